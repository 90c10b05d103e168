// Deletes a relationship between nodes of the user, or a node with all its relationships. Nodes that no search reads keep their
// properties, including the embeddings, until `undo_until`; some that expired, of any user, are purged.
// If something has changed since it was read, nothing is written. Writing `write_lock` takes the locks before records are compared.
// A relationship that another write gave the node makes its deletion fail.
// Parameters: user_id; nodes [{element_id, entity_key, version}], at most one; relationships [{element_id, neo4j_type,
//   from_entity_key, to_entity_key, relationship_key}]; deletion (text that the kept records of a node share, or null); now;
//   undo_until, null to keep nothing.
// Rows: one, or none.
CALL () {
  UNWIND $nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH n, row
  WHERE n.entity_key = row.entity_key AND n.user_id = $user_id AND coalesce(n.version, 0) = row.version
  RETURN collect(n) AS nodes
}
CALL () {
  UNWIND $relationships AS row
  MATCH (a)-[r:«types»]->(b)
  WHERE elementId(r) = row.element_id
  «_relationship_lock»
  WITH row, a, r, b
  WHERE type(r) = row.neo4j_type
    AND a.entity_key = row.from_entity_key AND a.user_id = $user_id
    AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
  RETURN collect({r: r, row: row}) AS relationships
}
WITH nodes, relationships
WHERE size(nodes) = size($nodes) AND size(relationships) = size($relationships)
CALL (nodes) {
  UNWIND nodes AS n
  WITH n
  WHERE $undo_until IS NOT NULL
  CREATE (kept:«deleted_node»)
  SET kept = properties(n)
  SET kept += {
    kgagent_labels: labels(n), kgagent_deletion: $deletion, kgagent_deleted_at: $now, kgagent_undo_until: $undo_until
  }
  REMOVE kept.statements_hash
}
CALL (relationships) {
  UNWIND relationships AS held
  WITH held.r AS r, held.row AS row
  CALL (r, row) {
    WITH r, row
    WHERE $undo_until IS NOT NULL
    «_keep_relationship»
  }
  DELETE r
}
FOREACH (n IN nodes | DELETE n)
WITH true AS deleted
CALL () {
  UNWIND [row IN $nodes | row.entity_key] + [row IN $relationships | row.relationship_key] AS record
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record = record
  DELETE entry
}
«_purge_deleted»
RETURN deleted
