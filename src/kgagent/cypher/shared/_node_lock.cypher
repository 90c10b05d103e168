// Takes the lock of a node `n`; the property is removed again. A node that was deleted meanwhile is omitted.
SET n.write_lock = true
REMOVE n.write_lock
WITH * WHERE size(labels(n)) > 0
