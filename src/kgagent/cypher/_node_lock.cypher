// Takes the lock of a node `n`; the property is removed again.
SET n.write_lock = true
REMOVE n.write_lock
