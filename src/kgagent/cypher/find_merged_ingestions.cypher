// The user's sources into which others were merged, with how far those were read.
// Parameters: user_id; texts, of which one stands somewhere in what is told of them.
// Rows: entity_key; merged, a JSON object of progress by key.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND any(text IN $texts WHERE n.ingestion_merged CONTAINS text)
RETURN n.entity_key AS entity_key, n.ingestion_merged AS merged
ORDER BY entity_key
