// Gives a deleted record of the user notes and merged sources without those of a source, unless they have changed since they were
// read. The embedding of other notes than before is removed.
// Parameters: user_id; element_id; notes (null to leave them), notes_after, notes_text; merged, merged_after.
// Rows: one if it was changed.
MATCH (n:«all_deleted»)
WHERE elementId(n) = $element_id
«_node_lock»
WITH n
WHERE n.user_id = $user_id AND coalesce($notes = n.notes, $notes IS NULL)
  AND coalesce(n.ingestion_merged, '') = coalesce($merged, '')
SET n.ingestion_merged = $merged_after, n.version = coalesce(n.version, 0) + 1
WITH n
CALL (n) {
  WITH n
  WHERE $notes IS NOT NULL
  SET n.notes = $notes_after, n.notes_text = $notes_text
  REMOVE n.embedding, n.relationship_embedding, n.embedding_hash, n.embedding_model
}
RETURN true AS changed
