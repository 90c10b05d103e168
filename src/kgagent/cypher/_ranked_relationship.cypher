// A relationship `r` with the fields that ranking and expansion need; results are read in full later.
// Null if another transaction has deleted it since it was matched.
CASE WHEN type(r) IS NOT NULL THEN {
  element_id: elementId(r), neo4j_type: type(r),
  from_entity_key: startNode(r).entity_key, to_entity_key: endNode(r).entity_key,
  from_name: startNode(r).name, to_name: endNode(r).name,
  from_labels: labels(startNode(r)), to_labels: labels(endNode(r)),
  vector_length: $dimensions,
  properties: [['relationship_type', r.relationship_type], ['is_reversed', coalesce(r.is_reversed, r.told_in_reverse)]]
} END
