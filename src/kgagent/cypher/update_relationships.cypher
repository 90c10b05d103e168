// Changes relationships whose version is still the one that was read; removes properties of old graphs.
// The write of `write_lock` takes the relationship's lock before the version is compared; the property is removed again.
// Parameters: user_id; rows [{position, element_id, neo4j_type, version, from_entity_key, to_entity_key, properties, vector or null}].
// Rows: position of each that was changed.
UNWIND $rows AS row
MATCH (a)-[r:«types»]->(b)
WHERE elementId(r) = row.element_id
«_relationship_lock»
WITH row, a, r, b
WHERE coalesce(r.version, 0) = row.version AND type(r) = row.neo4j_type
  AND a.entity_key = row.from_entity_key AND a.user_id = $user_id
  AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
SET r += row.properties
REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding, r.told_in_reverse
WITH r, row
CALL (r, row) {
  WITH r, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
}
RETURN row.position AS position
