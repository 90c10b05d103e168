// A relationship `r` that a search found, without internal properties. Vectors are not read, and times are converted to text:
// both would cost more than the search. The vector is known to have the requested length.
// Null if another transaction has deleted it since it was matched.
CASE WHEN type(r) IS NOT NULL THEN {
  element_id: elementId(r), neo4j_type: type(r),
  from_entity_key: startNode(r).entity_key, to_entity_key: endNode(r).entity_key,
  from_name: startNode(r).name, to_name: endNode(r).name,
  vector_length: $dimensions,
  properties: [key IN keys(r) WHERE NOT key IN ['relationship_embedding', 'relation_embedding', 'notes_embedding',
      'description_embedding', 'embedding_hash', 'embedding_model', 'notes_text', 'relationship_key', 'user_id', 'version',
      'write_lock'] |
    [key, CASE WHEN r[key] IS :: ZONED DATETIME THEN toString(r[key]) ELSE r[key] END]]
} END
