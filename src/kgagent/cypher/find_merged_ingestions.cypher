// Source nodes of the user into which other source nodes were merged, with the progress of those.
// Parameters: user_id; texts, of which one must occur in the stored progress.
// Rows: entity_key; merged, a JSON object of progress by key.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND any(text IN $texts WHERE n.ingestion_merged CONTAINS text)
RETURN n.entity_key AS entity_key, n.ingestion_merged AS merged
ORDER BY entity_key
