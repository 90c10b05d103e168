// Deletes a relationship between nodes of the user. A node that no search reads keeps its properties, including the embedding,
// until `undo_until`; some of the expired ones are purged.
// The write of `write_lock` takes the relationship's lock before it is read; one that another write deleted has no type.
// Parameters: user_id; element_id, neo4j_type, from_entity_key, to_entity_key, relationship_key; now; undo_until, null to keep
//   nothing; purge_limit.
// Rows: one {deleted}, 0 or 1.
MATCH (a)-[r:«types»]->(b)
WHERE elementId(r) = $element_id
SET r.write_lock = true
REMOVE r.write_lock
WITH a, r, b
WHERE type(r) = $neo4j_type
  AND a.entity_key = $from_entity_key AND a.user_id = $user_id
  AND b.entity_key = $to_entity_key AND b.user_id = $user_id
CALL (r) {
  WITH r
  WHERE $undo_until IS NOT NULL
  CREATE (kept:«deleted»)
  SET kept = properties(r)
  SET kept += {
    user_id: $user_id, relationship_key: $relationship_key, is_reversed: coalesce(r.is_reversed, r.told_in_reverse),
    kgagent_from_entity_key: $from_entity_key, kgagent_deleted_at: $now, kgagent_undo_until: $undo_until
  }
  REMOVE kept.relation_embedding, kept.notes_embedding, kept.description_embedding, kept.told_in_reverse
}
DELETE r
WITH count(*) AS deleted
CALL (deleted) {
  WITH deleted
  WHERE deleted > 0
  MATCH (over:«deleted»)
  WHERE over.user_id = $user_id AND over.kgagent_undo_until < $now
  WITH over
  LIMIT $purge_limit
  DELETE over
}
RETURN deleted
