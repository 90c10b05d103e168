// A relationship `r` with all properties but its vectors.
// Null if another transaction has deleted it since it was matched, even while its fields were read.
head([found IN [{
  element_id: elementId(r), neo4j_type: type(r),
  from_entity_key: startNode(r).entity_key, to_entity_key: endNode(r).entity_key,
  from_name: startNode(r).name, to_name: endNode(r).name,
  vector_length: CASE WHEN r.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(r.relationship_embedding) END,
  has_old_embeddings: r.relation_embedding IS NOT NULL OR r.notes_embedding IS NOT NULL OR r.description_embedding IS NOT NULL,
  properties: r {.*, relationship_embedding: null, relation_embedding: null, notes_embedding: null, description_embedding: null}
}] WHERE found.neo4j_type IS NOT NULL AND found.from_entity_key IS NOT NULL AND found.to_entity_key IS NOT NULL])
