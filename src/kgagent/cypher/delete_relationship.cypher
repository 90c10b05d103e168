// Deletes a relationship between nodes of the user. A node that no search reads keeps its properties, including the embedding,
// until `undo_until`; some that expired, of any user, are purged.
// The write of `write_lock` takes the relationship's lock before it is read; one that another write deleted has no type.
// Parameters: user_id; relationship {element_id, neo4j_type, from_entity_key, to_entity_key, relationship_key}; deletion, null;
//   now; undo_until, null to keep nothing.
// Rows: one {deleted}, 0 or 1.
MATCH (a)-[r:«types»]->(b)
WHERE elementId(r) = $relationship.element_id
«_relationship_lock»
WITH a, r, b, $relationship AS row
WHERE type(r) = row.neo4j_type
  AND a.entity_key = row.from_entity_key AND a.user_id = $user_id
  AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
CALL (r, row) {
  WITH r, row
  WHERE $undo_until IS NOT NULL
  «_keep_relationship»
}
DELETE r
WITH count(*) AS deleted
«_purge_deleted»
RETURN deleted
