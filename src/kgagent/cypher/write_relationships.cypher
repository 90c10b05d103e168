// Creates relationships between nodes of the user, unless the two nodes have one of the type already, and changes relationships
// whose version is still the one that was read; removes properties of old graphs.
// The nodes of new relationships are found by their element ids, as a search by key in a writing statement would lock the key's
// place in the index of each label, and writers that share a node would wait for each other.
// The write of `write_lock` takes the relationship's lock before the version is compared; the property is removed again.
// Parameters: user_id; created [{position, neo4j_type, from_element_id, from_entity_key, to_element_id, to_entity_key, properties,
//   vector or null}]; updated [{position, element_id, neo4j_type, version, from_entity_key, to_entity_key, properties, vector or
//   null}].
// Rows: position, element_id; of each that was written.
CALL () {
  UNWIND $created AS row
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
  RETURN row.position AS position, elementId(r) AS element_id
UNION ALL
  UNWIND $updated AS row
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
  RETURN row.position AS position, elementId(r) AS element_id
}
RETURN position, element_id
