// A relationship `r` with the fields that ranking and expansion need, in the order of `_found_relationship.cypher`; results are
// read in full later. Null if another transaction has deleted it since it was matched.
CASE WHEN type(r) IS NOT NULL THEN [
  elementId(r), type(r), startNode(r).entity_key, endNode(r).entity_key, startNode(r).name, endNode(r).name,
  labels(startNode(r)), labels(endNode(r)),
  [['relationship_type', r.relationship_type], ['is_reversed', coalesce(r.is_reversed, r.told_in_reverse)]]
] END
