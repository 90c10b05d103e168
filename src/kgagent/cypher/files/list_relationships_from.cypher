// The relationships that start at nodes of the user.
// Parameters: user_id; element_ids of the nodes.
// Rows: element_id, start_id (of the node), neo4j_type, to_labels, to_entity_key, is_own (whether the user has the other node,
//   and the relationship names no other user), relationship_key, texts (the properties of one without a key, as texts).
UNWIND $element_ids AS wanted
MATCH (a)-[r]->(b)
WHERE elementId(a) = wanted AND a.user_id = $user_id
RETURN elementId(r) AS element_id, wanted AS start_id, type(r) AS neo4j_type, labels(b) AS to_labels,
  b.entity_key AS to_entity_key,
  coalesce(b.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id, false) AS is_own,
  r.relationship_key AS relationship_key,
  CASE WHEN r.relationship_key IS NULL THEN [name IN keys(r) | name + coalesce(toStringOrNull(r[name]), '')] ELSE [] END AS texts
