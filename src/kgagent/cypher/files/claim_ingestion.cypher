// Makes a run the only one that may write the progress of the user's source.
// The write takes the node's lock before the rest is read.
// Parameters: user_id; entity_key; run.
// Rows: progress.
MATCH (n:«label» {entity_key: $entity_key})
WHERE n.user_id = $user_id
SET n.ingestion_run = $run
WITH n
RETURN n.ingestion_progress AS progress
