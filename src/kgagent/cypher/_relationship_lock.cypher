// Takes the lock of a relationship `r`; the property is removed again.
SET r.write_lock = true
REMOVE r.write_lock
