// Deletes a node of the user with all its relationships. Nodes that no search reads keep their properties, including the
// embeddings, until `undo_until`; some that expired, of any user, are purged.
// If something has changed since it was read, nothing is written. Writing `write_lock` takes the locks before records are compared.
// A relationship that another write gave the node makes its deletion fail.
// Parameters: user_id; node {element_id, entity_key, version}; relationships [{element_id, neo4j_type, from_entity_key,
//   to_entity_key, relationship_key}]; deletion (text that the kept records share); now; undo_until, null to keep nothing.
// Rows: one {deleted}, 0 or 1.
MATCH (n:«labels»)
WHERE elementId(n) = $node.element_id
«_node_lock»
WITH n
WHERE n.entity_key = $node.entity_key AND n.user_id = $user_id AND coalesce(n.version, 0) = $node.version
CALL (n) {
  UNWIND $relationships AS row
  MATCH (a)-[r:«types»]->(b)
  WHERE elementId(r) = row.element_id
  «_relationship_lock»
  WITH n, row, a, r, b
  WHERE type(r) = row.neo4j_type AND n IN [a, b]
    AND a.entity_key = row.from_entity_key AND a.user_id = $user_id
    AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
  RETURN count(*) AS held
}
WITH n, held
WHERE held = size($relationships)
CALL (n) {
  WITH n
  WHERE $undo_until IS NOT NULL
  CREATE (kept:«deleted_node»)
  SET kept = properties(n)
  SET kept += {
    kgagent_labels: labels(n), kgagent_deletion: $deletion, kgagent_deleted_at: $now, kgagent_undo_until: $undo_until
  }
}
CALL () {
  UNWIND $relationships AS row
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = row.element_id
  CALL (r, row) {
    WITH r, row
    WHERE $undo_until IS NOT NULL
    «_keep_relationship»
  }
  DELETE r
}
DELETE n
WITH count(*) AS deleted
«_purge_deleted»
RETURN deleted
