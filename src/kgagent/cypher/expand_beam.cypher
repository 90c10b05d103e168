// Relationships that share a node with a relationship of the frontier, scored by the path to them and by how clear the choice
// at that node is: the fewer siblings there are, and the less similar they are to the query, the less a hop costs.
// The overlap of a relationship with its predecessor (mostly the shared node) is subtracted from its own similarity.
// A relationship's user is compared by coalesce, for which no index can be used: while an index on user_id knows of few relationships,
// the planner would read it at each node, with all relationships of the user, instead of the few of the node.
// Parameters: user_id; relationship_types [text] or null; vector; dimensions; model; frontier [{position, element_id, score,
//   path [element ids], through [entity keys of the ends to leave through], others [element ids of other nodes to leave]}]; hub_limit (relationships read at a node); degree_limit
//   (relationships counted at a node); limit; step_cost; choice_weight; choice_temperature; overlap_weight.
// Rows: one {reached [{lead (position of the predecessor), score, similarity (plain cosine), relationship}], best first}:
// each row of a result costs the client about as much as reading a relationship.
UNWIND $frontier AS step
MATCH (a)-[r:«types»]->(b)
WHERE elementId(r) = step.element_id
WITH step, a, r, b
WHERE «_owned_relationship»
WITH step, r, r.relationship_embedding AS embedding
WITH step, r AS lead, CASE WHEN «_comparable_relationship» THEN embedding END AS before
CALL (step, lead) {
  UNWIND [node IN [startNode(lead), endNode(lead)] WHERE node.entity_key IN step.through] AS shared
  RETURN shared
  UNION ALL
  UNWIND step.others AS other
  MATCH (shared)
  WHERE elementId(shared) = other
  RETURN shared
}
CALL (step, lead, before, shared) {
  MATCH (shared)-[r:«types»]-(other)
  WITH step, lead, before, shared, r, other
  WHERE coalesce(r.user_id, $user_id) = $user_id AND shared.user_id = $user_id AND other.user_id = $user_id
    AND other.entity_key IS :: STRING NOT NULL AND r <> lead AND NOT elementId(r) IN step.path
    AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
  WITH r, before
  LIMIT $hub_limit
  WITH r, before, r.relationship_embedding AS embedding
  WHERE «_comparable_relationship»
  WITH r, 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 AS similarity,
    CASE WHEN before IS NULL THEN 0.0 ELSE 2.0 * vector.similarity.cosine(embedding, before) - 1.0 END AS overlap
  WITH collect([r, similarity, overlap]) AS siblings, avg(overlap) AS usual
  WITH [sibling IN siblings | [sibling[0], sibling[1], sibling[1] + $overlap_weight * (usual - sibling[2])]] AS siblings,
    COUNT {
      MATCH (shared)-[x:«types»]-()
      WITH x
      WHERE coalesce(x.user_id, $user_id) = $user_id AND ($relationship_types IS NULL OR x.relationship_type IN $relationship_types)
      RETURN x LIMIT $degree_limit
    } AS degree
  WITH siblings, reduce(total = 0.0, sibling IN siblings | total + exp(sibling[2] / $choice_temperature)) *
    CASE WHEN degree > $hub_limit THEN toFloat(degree) / $hub_limit ELSE 1.0 END AS total
  UNWIND siblings AS sibling
  RETURN sibling[0] AS r, sibling[1] AS similarity, $choice_temperature * log(total) - sibling[2] AS doubt
}
WITH r, similarity, step, step.score - $step_cost - $choice_weight * doubt AS score
ORDER BY score DESC, step.position
WITH r, similarity, head(collect([score, step.position])) AS best
ORDER BY best[0] DESC, r.relationship_key
LIMIT $limit
RETURN collect({lead: best[1], score: best[0], similarity: similarity, relationship: «relationship»}) AS reached
