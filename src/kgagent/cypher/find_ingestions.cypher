// The user's sources that are, or may be, the one that is sought: by key, by identity, or by what they say.
// Parameters: user_id; entity_key; identity or null; fingerprint.
// Rows: entity_key; fingerprint, of the text that the node tells of; progress.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND (n.entity_key = $entity_key
  OR (n.content_hash = $fingerprint AND n.ingestion_progress IS NOT NULL)
  OR n.ingestion_progress CONTAINS $identity)
RETURN n.entity_key AS entity_key, n.content_hash AS fingerprint, n.ingestion_progress AS progress
ORDER BY entity_key
