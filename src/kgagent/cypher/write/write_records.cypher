// Creates and changes nodes, and then relationships, which may join new nodes.
// A node is not created if a node of the user and of the label has the key already, and a relationship if the two nodes have one
// of the type. What is changed must have the version that was read; the write of `write_lock` takes its lock before the version
// is compared, and the property is removed again. Properties of old graphs are removed.
// The stored nodes of new relationships are found by their element ids, as a search by key in a writing statement would lock the
// key's place in the index of each label, and writers that share a node would wait for each other.
// Guarded rows are written only if all guards hold: the relationships of a node with some free types or ids are those that were
// read.
// Parameters: user_id; each may be missing: guards [{key (of a node), types [text], in plain form,
//   ids [element id], found [text] (element id and version of each relationship)}], sorted by their keys; created_nodes [{position, label,
//   entity_key, properties, vector or null}]; updated_nodes [{position, element_id, entity_key, version, properties, vector or
//   null}]; created_relationships [{position, is_guarded, neo4j_type, from_element_id and to_element_id (null for a new node),
//   from_entity_key, to_entity_key, properties, vector or null}]; updated_relationships [{position, is_guarded, element_id,
//   neo4j_type, version, from_entity_key, to_entity_key, properties, vector or null}].
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
  UNWIND $guards AS wanted
  MATCH (n:«labels» {entity_key: wanted.key})
  WHERE n.user_id = $user_id
  «_node_lock»
  CALL (n, wanted) {
    MATCH (n)-[r:«types»]-(m)
    WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
      AND («_has_one_value» OR elementId(r) IN wanted.ids)
    WITH DISTINCT r
    «_relationship_lock»
    WITH r
    RETURN collect(elementId(r) + ' ' + toStringOrNull(coalesce(r.version, 0))) AS found
  }
  WITH wanted, found
  WHERE size(found) <> size(wanted.found) OR any(one IN found WHERE NOT one IN wanted.found)
  RETURN count(*) > 0 AS is_changed
}
CALL (is_changed) {
  UNWIND $created_relationships AS row
  WITH row WHERE NOT (is_changed AND row.is_guarded)
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
CALL (is_changed) {
  UNWIND $updated_relationships AS row
  WITH row WHERE NOT (is_changed AND row.is_guarded)
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
