// Creates relationships between nodes of the user, unless the two nodes have one of the type already.
// The nodes are found by their element ids, as a search by key in a writing statement would lock the key's place in the
// index of each label, and writers that share a node would wait for each other.
// Parameters: user_id; rows [{position, neo4j_type, from_element_id, from_entity_key, to_element_id, to_entity_key,
//   properties, vector or null}].
// Rows: position of each that was created.
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.from_element_id
MATCH (b) WHERE elementId(b) = row.to_element_id
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
RETURN row.position AS position
