// Takes the lock of a relationship `r`; the property is removed again. A relationship that was deleted meanwhile is omitted.
SET r.write_lock = true
REMOVE r.write_lock
WITH * WHERE type(r) IS NOT NULL
