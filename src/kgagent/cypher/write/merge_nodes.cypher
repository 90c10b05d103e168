// Merges a node of the user into another: moves or drops all its relationships, changes what that changes, and deletes it.
// If anything has changed since it was read, nothing is written. Writing `write_lock` takes the locks before versions are compared;
// the property is removed again. A relationship that another write gave the dropped node makes its deletion, and so the merge, fail.
// Parameters: user_id; keep, drop (element ids); read_nodes [{element_id, entity_key, version}], these two and all others that change;
//   read_relationships [{element_id, neo4j_type, version}], all whose version must be unchanged; changed_nodes, moved, changed
//   [{element_id, properties, vector or null}], the nodes and relationships to change, with those that get the node that is kept
//   in place of the other; dropped [element ids of the relationships of that]; unindexed [`record` of the statements of what is
//   deleted].
// Rows: one, or none if something has changed.
CALL () {
  UNWIND $read_nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH row, n
  WHERE n.entity_key = row.entity_key AND n.user_id = $user_id AND coalesce(n.version, 0) = row.version
  RETURN collect(n) AS nodes
}
CALL () {
  UNWIND $read_relationships AS row
  MATCH (a)-[r:«types»]->(b)
  WHERE elementId(r) = row.element_id
  «_relationship_lock»
  WITH row, a, r, b
  WHERE coalesce(r.version, 0) = row.version AND type(r) = row.neo4j_type
    AND a.user_id = $user_id AND b.user_id = $user_id
  RETURN count(*) AS relationships_held
}
WITH nodes, relationships_held
WHERE size(nodes) = size($read_nodes) AND relationships_held = size($read_relationships)
WITH head([n IN nodes WHERE elementId(n) = $keep]) AS keep, head([n IN nodes WHERE elementId(n) = $drop]) AS drop
CALL (keep, drop) {
  UNWIND $moved AS row
  MATCH (source)-[old:«types»]->(target)
  WHERE elementId(old) = row.element_id
  WITH row, old, CASE WHEN source = drop THEN keep ELSE source END AS a, CASE WHEN target = drop THEN keep ELSE target END AS b
  WHERE NOT EXISTS { MATCH (a)-[r:«types»]-(b) WHERE type(r) = type(old) }
  RETURN collect({row: row, old: old, a: a, b: b}) AS moves
}
WITH drop, moves
WHERE size(moves) = size($moved)
CALL (moves) {
  UNWIND moves AS move
  WITH move.row AS row, move.old AS old, move.a AS a, move.b AS b
  CREATE (a)-[r:$(type(old))]->(b)
  SET r = old {.*, relationship_key: row.properties.relationship_key}
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding
  SET r += row.properties
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS moved
}
CALL () {
  UNWIND $changed AS row
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = row.element_id
  SET r += row.properties
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS changed
}
CALL () {
  UNWIND $changed_nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  SET n += row.properties
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, '«node_embedding»', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: n, ends: [n]}) AS changed_nodes
}
CALL () {
  UNWIND $dropped AS wanted
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = wanted
  DELETE r
}
DELETE drop
WITH moved + changed + changed_nodes AS all_written, changed_nodes
CALL () {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record IN $unindexed
  DELETE entry
}
WITH changed_nodes, all_written AS written
«_index_statements»
WITH changed_nodes AS written
«_rename_statements»
RETURN true AS merged
