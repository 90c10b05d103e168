// What is kept of the relationships that were deleted with a node of the user, with the nodes at their other ends.
// Parameters: user_id; deletion; entity_key (of the node).
// Rows: element_id (of what is kept), neo4j_type, from_entity_key, other {element_id (empty if the node does not exist),
//   entity_key, label (empty), name (empty if unknown)}, vector_length, properties.
MATCH (kept:«deleted»)
WHERE kept.user_id = $user_id AND kept.kgagent_deletion = $deletion
WITH kept, CASE kept.kgagent_from_entity_key WHEN $entity_key THEN kept.kgagent_to_entity_key ELSE kept.kgagent_from_entity_key END AS key
CALL (key) {
  OPTIONAL MATCH (m:«labels» {entity_key: key})
  WHERE m.user_id = $user_id
  RETURN head(collect(m)) AS m
}
RETURN elementId(kept) AS element_id, kept.kgagent_neo4j_type AS neo4j_type, kept.kgagent_from_entity_key AS from_entity_key,
  {
    element_id: coalesce(elementId(m), ''), entity_key: key, label: '', name: coalesce(toStringOrNull(m.name), '')
  } AS other,
  CASE WHEN kept.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(kept.relationship_embedding) END AS vector_length,
  kept {.*, relationship_embedding: null, «_deletion_properties»} AS properties
ORDER BY kept.relationship_key, element_id
