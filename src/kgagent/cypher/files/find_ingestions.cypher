// Source nodes of the user that match by key or, if a run has begun to read them, by content; that of the key first.
// Parameters: user_id; entity_key; fingerprint.
// Rows: entity_key; fingerprint, of the version that the node describes; progress.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND (n.entity_key = $entity_key
  OR (n.content_hash = $fingerprint AND n.ingestion_progress IS NOT NULL))
RETURN n.entity_key AS entity_key, n.content_hash AS fingerprint, n.ingestion_progress AS progress
ORDER BY n.entity_key <> $entity_key, entity_key
