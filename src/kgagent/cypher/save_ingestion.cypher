// Keeps how far the user's source is read, if the run still has it.
// The write of `write_lock` takes the node's lock before the run is compared; it is gone at the end.
// Parameters: user_id; entity_key; run; next_run, null where the run ends; progress; messages or null.
// Rows: one if it was kept.
MATCH (n:«label» {entity_key: $entity_key})
WHERE n.user_id = $user_id
SET n.write_lock = true
REMOVE n.write_lock
WITH n
WHERE n.ingestion_run = $run
SET n.ingestion_run = $next_run, n.ingestion_progress = $progress, n.ingestion_messages = $messages
RETURN true AS kept
