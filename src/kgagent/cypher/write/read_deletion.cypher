// What is kept of the records that were deleted with a node of the user, or changed by its merge into another, without the node itself.
// Parameters: user_id; deletion; entity_key (of the node).
// Rows: element_id (of what is kept), stays (whether the record was not deleted), written (fingerprints of what the merge wrote, or
//   null), labels (of a node, else null), neo4j_type, from_entity_key, to_entity_key, other {element_id (empty if the node does not exist),
//   entity_key, label (empty), name (empty if unknown)}, vector_length, properties.
MATCH (kept:«all_deleted»)
WHERE kept.user_id = $user_id AND kept.kgagent_deletion = $deletion AND (kept:«deleted» OR kept.kgagent_stays)
WITH kept, CASE kept.kgagent_from_entity_key WHEN $entity_key THEN kept.kgagent_to_entity_key ELSE kept.kgagent_from_entity_key END AS key
CALL (key) {
  OPTIONAL MATCH (m:«labels» {entity_key: key})
  WHERE m.user_id = $user_id
  RETURN head(collect(m)) AS m
}
RETURN elementId(kept) AS element_id, coalesce(kept.kgagent_stays, false) AS stays, kept.kgagent_written AS written,
  kept.kgagent_labels AS labels, kept.kgagent_neo4j_type AS neo4j_type, kept.kgagent_from_entity_key AS from_entity_key,
  kept.kgagent_to_entity_key AS to_entity_key,
  {
    element_id: coalesce(elementId(m), ''), entity_key: coalesce(key, ''), label: '', name: coalesce(toStringOrNull(m.name), '')
  } AS other,
  CASE WHEN kept.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(kept.relationship_embedding) END AS vector_length,
  kept {.*, relationship_embedding: null, «node_embedding»: null, «_deletion_properties»} AS properties
ORDER BY kept.relationship_key, element_id
