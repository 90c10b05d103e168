// Stores the progress of the user's source if the run holds it or takes it over.
// Writing `write_lock` takes the node's lock before the run is compared; the property is removed again.
// Parameters: user_id; entity_key; run; claims (whether it takes over); progress.
// Rows: one if the progress was stored.
MATCH (n:«label» {entity_key: $entity_key})
WHERE n.user_id = $user_id
«_node_lock»
WITH n
WHERE $claims OR n.ingestion_run = $run
SET n.ingestion_run = $run, n.ingestion_progress = $progress
RETURN true AS saved
