// Restores a deleted relationship of the user, or a deleted node with relationships that were deleted with it. Embeddings stay in the
// database. If something has changed since it was read, has expired, or exists again, nothing is written. Writing `write_lock` takes
// the locks before records are compared. Some records that expired, of any user, are purged.
// Parameters: user_id; now; nodes [{element_id (of what is kept), entity_key, version, properties (with the key that it gets), vector
//   or null for the one that is kept}], at most one; relationships [{element_id (of what is kept), relationship_key (likewise),
//   version, neo4j_type, from_element_id and to_element_id (null for the restored node), from_entity_key, to_entity_key,
//   properties, vector likewise}].
// Rows: one, or none.
CALL () {
  UNWIND $nodes AS row
  MATCH (n:«deleted_node»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH n, row
  WHERE n.entity_key = row.entity_key AND n.user_id = $user_id AND coalesce(n.version, 0) = row.version
    AND n.kgagent_undo_until > $now
    AND NOT EXISTS { MATCH (other:«labels» {entity_key: row.properties.entity_key}) WHERE other.user_id = $user_id }
  RETURN collect({kept: n, row: row}) AS nodes
}
CALL () {
  UNWIND $relationships AS row
  MATCH (n:«deleted»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH n, row
  WHERE n.relationship_key = row.relationship_key AND n.user_id = $user_id AND coalesce(n.version, 0) = row.version
    AND n.kgagent_undo_until > $now
  OPTIONAL MATCH (a:«labels») WHERE elementId(a) = row.from_element_id
  OPTIONAL MATCH (b:«labels») WHERE elementId(b) = row.to_element_id
  WITH n, row, a, b
  WHERE (row.from_element_id IS NULL OR (a.entity_key = row.from_entity_key AND a.user_id = $user_id))
    AND (row.to_element_id IS NULL OR (b.entity_key = row.to_entity_key AND b.user_id = $user_id))
    AND NOT EXISTS { MATCH (a)-[existing:«types»]-(b) WHERE type(existing) = row.neo4j_type }
  RETURN collect({kept: n, row: row, a: a, b: b}) AS relationships
}
WITH nodes, relationships
WHERE size(nodes) = size($nodes) AND size(relationships) = size($relationships)
CALL (nodes) {
  UNWIND nodes AS held
  WITH held.kept AS kept, held.row AS row
  CREATE (n:$(kept.kgagent_labels))
  SET n = kept {.*, «_deletion_properties», entity_key: row.properties.entity_key}
  SET n += row.properties
  DELETE kept
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, '«node_embedding»', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: n, ends: [n]}) AS restored_nodes
}
CALL (relationships, restored_nodes) {
  UNWIND relationships AS held
  WITH held, head([one IN restored_nodes | one.record]) AS restored
  WITH held.kept AS kept, held.row AS row, coalesce(held.a, restored) AS a, coalesce(held.b, restored) AS b
  CREATE (a)-[r:$(row.neo4j_type)]->(b)
  SET r = kept {.*, «_deletion_properties», relationship_key: row.properties.relationship_key}
  SET r += row.properties
  DELETE kept
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS restored_relationships
}
WITH restored_nodes + restored_relationships AS written
«_index_statements»
«_purge_deleted»
RETURN true AS restored
