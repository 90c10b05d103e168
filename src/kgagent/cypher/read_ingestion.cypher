// How far the user's source is read.
// Parameters: user_id; entity_key.
// Rows: progress; none where the user has no such source.
MATCH (n:«label» {entity_key: $entity_key})
WHERE n.user_id = $user_id
RETURN n.ingestion_progress AS progress
