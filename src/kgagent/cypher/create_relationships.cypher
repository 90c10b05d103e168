// Creates relationships between nodes of the user that none of their type joins yet.
// Parameters: user_id; rows [{position, neo4j_type, from_entity_key, to_entity_key, properties, vector or null}].
// Rows: position of each that was created.
UNWIND $rows AS row
MATCH (a:«labels» {entity_key: row.from_entity_key}) WHERE a.user_id = $user_id
MATCH (b:«labels» {entity_key: row.to_entity_key}) WHERE b.user_id = $user_id
WITH row, a, b
WHERE NOT EXISTS { MATCH (a)-[existing:«types»]-(b) WHERE type(existing) = row.neo4j_type }
CREATE (a)-[r:$(row.neo4j_type)]->(b)
SET r = row.properties
WITH r, row
CALL (r, row) {
  WITH r, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
}
RETURN row.position AS position
