// Merges a node of the user into another: moves or drops all its relationships, changes what that changes, and deletes it.
// If anything has changed since it was read, nothing is written. Writing `write_lock` takes the locks before versions are compared;
// the property is removed again. A relationship that another write gave the dropped node makes its deletion, and so the merge, fail.
// Parameters: user_id; keep, drop {element_id, entity_key, version}; read_relationships [{element_id, neo4j_type, version}], all
//   whose version must be unchanged; read_nodes [{element_id, version}]; node {properties, vector or null}, of the one that is kept;
//   moved [{element_id, neo4j_type, from_element_id, to_element_id, properties, vector or null}]; changed [{element_id,
//   properties, vector or null}]; changed_nodes [{element_id, properties}]; dropped [element ids of its relationships].
// Rows: one, or none if something has changed.
MATCH (keep:«labels»)
WHERE elementId(keep) = $keep.element_id
MATCH (drop:«labels»)
WHERE elementId(drop) = $drop.element_id
SET keep.write_lock = true, drop.write_lock = true
REMOVE keep.write_lock, drop.write_lock
WITH keep, drop
WHERE keep.entity_key = $keep.entity_key AND keep.user_id = $user_id AND coalesce(keep.version, 0) = $keep.version
  AND drop.entity_key = $drop.entity_key AND drop.user_id = $user_id AND coalesce(drop.version, 0) = $drop.version
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
CALL () {
  UNWIND $read_nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH row, n
  WHERE coalesce(n.version, 0) = row.version AND n.user_id = $user_id
  RETURN count(*) AS nodes_held
}
CALL () {
  UNWIND $moved AS row
  MATCH (a) WHERE elementId(a) = row.from_element_id
  MATCH (b) WHERE elementId(b) = row.to_element_id
  WITH row, a, b
  WHERE a.user_id = $user_id AND b.user_id = $user_id AND $keep.entity_key IN [a.entity_key, b.entity_key]
    AND NOT EXISTS { MATCH (a)-[r:«types»]-(b) WHERE type(r) = row.neo4j_type }
  RETURN count(*) AS free
}
WITH keep, drop, relationships_held, nodes_held, free
WHERE relationships_held = size($read_relationships) AND nodes_held = size($read_nodes) AND free = size($moved)
CALL () {
  UNWIND $moved AS row
  MATCH ()-[old:«types»]->()
  WHERE elementId(old) = row.element_id
  MATCH (a) WHERE elementId(a) = row.from_element_id
  MATCH (b) WHERE elementId(b) = row.to_element_id
  CREATE (a)-[r:$(row.neo4j_type)]->(b)
  SET r = old {.*, relationship_key: row.properties.relationship_key}
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding, r.told_in_reverse
  SET r += row.properties
  WITH r, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
}
CALL () {
  UNWIND $changed AS row
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = row.element_id
  SET r += row.properties
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding, r.told_in_reverse
  WITH r, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
}
CALL () {
  UNWIND $changed_nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  SET n += row.properties
}
CALL () {
  UNWIND $dropped AS wanted
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = wanted
  DELETE r
}
SET keep += $node.properties
WITH keep, drop
CALL (keep) {
  WITH keep
  WHERE $node.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(keep, 'embedding', toFloatList($node.vector))
}
DELETE drop
RETURN true AS merged
