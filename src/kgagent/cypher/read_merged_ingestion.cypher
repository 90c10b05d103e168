// The user's sources into which another one was merged, with how far those merged into each were read.
// Parameters: user_id; entity_key, of the one that was merged.
// Rows: entity_key; merged, a JSON object of progress by key, which holds the key somewhere.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND n.ingestion_merged CONTAINS $entity_key
RETURN n.entity_key AS entity_key, n.ingestion_merged AS merged
ORDER BY entity_key
