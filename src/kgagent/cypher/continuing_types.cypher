// The types of the relationships that continue paths, at the nodes to leave some relationships by.
// A relationship's user is compared by coalesce so that no index on user_id is read, see expand_beam.
// Parameters: user_id; relationship_types [text] or null; steps [{element_id, through [entity keys of the ends to leave
//   through], visited [entity keys of the nodes of the path]}]; limit (relationships read at a node).
// Rows: element_id (of the relationship), types.
UNWIND $steps AS step
MATCH (a)-[r:«types»]->(b)
WHERE elementId(r) = step.element_id
WITH step, a, r, b
WHERE «_owned_relationship»
CALL (step, a, b) {
  UNWIND [node IN [a, b] WHERE node.entity_key IN step.through] AS shared
  CALL (step, shared) {
    MATCH (shared)-[x:«types»]-(other)
    WITH step, x, other
    WHERE coalesce(x.user_id, $user_id) = $user_id AND other.user_id = $user_id AND NOT other.entity_key IN step.visited
      AND ($relationship_types IS NULL OR x.relationship_type IN $relationship_types)
    WITH x
    LIMIT $limit
    RETURN toStringOrNull(x.relationship_type) AS type
  }
  RETURN collect(DISTINCT type) AS types
}
RETURN step.element_id AS element_id, types
