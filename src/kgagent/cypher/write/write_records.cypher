// Creates and changes nodes, and then relationships, which may join new nodes.
// A node is not created if a node of the user and of the label has the key already, and a relationship if the two nodes have one
// of the type. What is changed must have the version that was read; the write of `write_lock` takes its lock before the version
// is compared, and the property is removed again. Properties of old graphs are removed.
// The stored nodes of new relationships are found by their element ids, as a search by key in a writing statement would lock the
// key's place in the index of each label, and writers that share a node would wait for each other.
// Parameters: user_id; each may be missing: created_nodes [{position, label, entity_key, properties, vector or null}];
//   updated_nodes [{position, element_id, entity_key, version, properties, vector or null}]; created_relationships [{position,
//   neo4j_type, from_element_id and to_element_id (null for a new node), from_entity_key, to_entity_key, properties, vector or
//   null}]; updated_relationships [{position, element_id, neo4j_type, version, from_entity_key, to_entity_key, properties, vector
//   or null}].
// Rows: one {positions (of what was written)}.
CALL () {
  UNWIND $created_nodes AS row
  OPTIONAL MATCH (existing:«labels» {entity_key: row.entity_key})
  WHERE existing.user_id = $user_id AND row.label IN labels(existing)
  WITH row, existing
  WHERE existing IS NULL
  CREATE (n:$(row.label))
  SET n = row.properties
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, '«node_embedding»', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: n, ends: [n]}) AS new_nodes
}
CALL () {
  UNWIND $updated_nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH row, n
  WHERE coalesce(n.version, 0) = row.version AND n.entity_key = row.entity_key AND n.user_id = $user_id
  SET n += row.properties
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, '«node_embedding»', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: n, ends: [n]}) AS nodes
}
CALL () {
  UNWIND $created_relationships AS row
  CALL (row) {
    WITH row WHERE row.from_element_id IS NOT NULL
    MATCH (a) WHERE elementId(a) = row.from_element_id
    RETURN a
  UNION ALL
    WITH row WHERE row.from_element_id IS NULL
    MATCH (a:«labels» {entity_key: row.from_entity_key}) WHERE a.user_id = $user_id
    RETURN a
  }
  CALL (row) {
    WITH row WHERE row.to_element_id IS NOT NULL
    MATCH (b) WHERE elementId(b) = row.to_element_id
    RETURN b
  UNION ALL
    WITH row WHERE row.to_element_id IS NULL
    MATCH (b:«labels» {entity_key: row.to_entity_key}) WHERE b.user_id = $user_id
    RETURN b
  }
  WITH row, a, b
  WHERE a.entity_key = row.from_entity_key AND a.user_id = $user_id
    AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
    AND NOT EXISTS { MATCH (a)-[existing:«types»]-(b) WHERE type(existing) = row.neo4j_type }
  CREATE (a)-[r:$(row.neo4j_type)]->(b)
  SET r = row.properties
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS new_relationships
}
CALL () {
  UNWIND $updated_relationships AS row
  MATCH (a)-[r:«types»]->(b)
  WHERE elementId(r) = row.element_id
  «_relationship_lock»
  WITH row, a, r, b
  WHERE coalesce(r.version, 0) = row.version AND type(r) = row.neo4j_type
    AND a.entity_key = row.from_entity_key AND a.user_id = $user_id
    AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
  SET r += row.properties
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS relationships
}
WITH nodes, new_nodes + nodes + new_relationships + relationships AS written
«_index_statements»
WITH written AS all_written, nodes AS written
«_rename_statements»
RETURN [one IN all_written | one.row.position] AS positions
