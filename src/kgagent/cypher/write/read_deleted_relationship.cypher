// What is kept of the deleted relationships of a type between two nodes of the user; the one that was deleted last comes first.
// Parameters: user_id; neo4j_type; key (of the one relationship that the tools create; others begin with #); ends [entity keys]; limit.
// Rows: {element_id (of the node that keeps it), from_entity_key, deleted_at (null if it was purged meanwhile),
//   undo_until, vector_length, properties}.
MATCH (kept:«deleted»)
WHERE kept.user_id = $user_id AND (kept.relationship_key = $key OR kept.relationship_key STARTS WITH '#')
  AND kept.kgagent_neo4j_type = $neo4j_type
  AND kept.kgagent_from_entity_key IN $ends AND kept.kgagent_to_entity_key IN $ends AND kept.kgagent_stays IS NULL
WITH kept
ORDER BY kept.kgagent_deleted_at IS NOT NULL DESC, kept.kgagent_deleted_at DESC
LIMIT $limit
RETURN elementId(kept) AS element_id, kept.kgagent_from_entity_key AS from_entity_key,
  kept.kgagent_deleted_at AS deleted_at, kept.kgagent_undo_until AS undo_until,
  CASE WHEN kept.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(kept.relationship_embedding) END AS vector_length,
  kept {.*, relationship_embedding: null, «_deletion_properties»} AS properties
