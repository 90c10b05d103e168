// What is kept of a deleted relationship of the user, as it was deleted last.
// Parameters: user_id; key (relationship key).
// Rows: at most one {element_id (of the node that keeps it), from_entity_key, deleted_at (null if it was purged meanwhile),
//   undo_until, vector_length, properties}.
MATCH (kept:«deleted»)
WHERE kept.user_id = $user_id AND kept.relationship_key = $key AND kept.kgagent_stays IS NULL
WITH kept
ORDER BY kept.kgagent_deleted_at IS NOT NULL DESC, kept.kgagent_deleted_at DESC
LIMIT 1
RETURN elementId(kept) AS element_id, kept.kgagent_from_entity_key AS from_entity_key,
  kept.kgagent_deleted_at AS deleted_at, kept.kgagent_undo_until AS undo_until,
  CASE WHEN kept.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(kept.relationship_embedding) END AS vector_length,
  kept {.*, relationship_embedding: null, «_deletion_properties»} AS properties
