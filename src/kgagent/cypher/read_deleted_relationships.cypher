// What is kept of deleted relationships of the user, each as it was deleted last.
// Parameters: user_id; keys [relationship keys]; skip (later deletions of each to skip).
// Rows: key, element_id (of the node that keeps it), from_entity_key, deleted_at (null if it was purged meanwhile), undo_until,
//   vector_length, properties.
UNWIND $keys AS key
CALL (key) {
  MATCH (kept:«deleted»)
  WHERE kept.user_id = $user_id AND kept.relationship_key = key
  RETURN kept
  ORDER BY kept.kgagent_deleted_at IS NOT NULL DESC, kept.kgagent_deleted_at DESC
  SKIP $skip LIMIT 1
}
RETURN key, elementId(kept) AS element_id, kept.kgagent_from_entity_key AS from_entity_key,
  kept.kgagent_deleted_at AS deleted_at, kept.kgagent_undo_until AS undo_until,
  CASE WHEN kept.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(kept.relationship_embedding) END AS vector_length,
  kept {.*, relationship_embedding: null, «_deletion_properties»} AS properties
