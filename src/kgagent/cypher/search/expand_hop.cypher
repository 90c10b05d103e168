// Relationships that share a node with a relationship of the frontier, with how clear the choice at that node is: the fewer
// siblings there are, and the less similar they are to the query, the less a hop costs.
// What a relationship has in common with its predecessor (mostly the shared node) beyond the average of its siblings is subtracted from
// its similarity there.
// A relationship's user is compared by coalesce, for which no index can be used: while an index on user_id knows of few relationships,
// the planner would read it at each node, with all relationships of the user, instead of the few of the node.
// Parameters: user_id; filter; vectors [vector of each query]; dimensions; model; frontier [{position, query
//   (position of its vector), element_id, score, path [element ids], through [entity keys of the ends to leave through]}];
//   hub_limit (relationships read at a node); limit (of each query); temperature; overlap_weight; doubt_weight; past_weight.
// Rows: one for each query: query, reached [{lead (position in the frontier), doubt (0 for the only choice), relationship}], best first: each row of a result costs the client about as much as reading a relationship.
UNWIND $frontier AS step
MATCH (a)-[r:«types»]->(b)
WHERE elementId(r) = step.element_id
WITH step, a, r, b
WHERE «_owned_relationship»
WITH step, r, r.relationship_embedding AS embedding
WITH step, $vectors[step.query] AS vector, r AS lead, CASE WHEN «_comparable_relationship» THEN embedding END AS before
UNWIND [node IN [startNode(lead), endNode(lead)] WHERE node.entity_key IN step.through] AS shared
CALL (step, vector, lead, before, shared) {
  MATCH (shared)-[r:«types»]-(other)
  WITH step, lead, before, vector, shared, r, other
  WHERE coalesce(r.user_id, $user_id) = $user_id AND shared.user_id = $user_id AND other.user_id = $user_id
    AND other.entity_key IS :: STRING NOT NULL AND r <> lead AND NOT elementId(r) IN step.path
    AND «_kept_relationship»
  WITH r, before, vector
  LIMIT $hub_limit
  WITH r, before, vector, r.relationship_embedding AS embedding
  WHERE «_comparable_relationship»
  WITH r, 2.0 * vector.similarity.cosine(embedding, vector) - 1.0 AS similarity,
    CASE WHEN before IS NULL THEN 0.0 ELSE 2.0 * vector.similarity.cosine(embedding, before) - 1.0 END AS overlap
  WITH collect([r, similarity, overlap]) AS siblings, avg(overlap) AS usual
  WITH [sibling IN siblings | [sibling[0], sibling[1] + $overlap_weight * (usual - sibling[2])]] AS siblings,
    COUNT { (shared)-[:«types»]-() } AS degree
  WITH siblings, reduce(total = 0.0, sibling IN siblings | total + exp(sibling[1] / $temperature)) *
    CASE WHEN degree > $hub_limit THEN toFloat(degree) / $hub_limit ELSE 1.0 END AS total
  UNWIND siblings AS sibling
  RETURN sibling[0] AS r, $temperature * log(total) - sibling[1] AS doubt
}
WITH step, r, doubt
ORDER BY step.score - $doubt_weight * doubt - CASE WHEN «_past» THEN $past_weight ELSE 0.0 END DESC, r.relationship_key, step.position
WITH step.query AS query, collect({lead: step.position, doubt: doubt, r: r})[..$limit] AS best
RETURN query, COLLECT {
  UNWIND best AS choice
  WITH choice, choice.r AS r
  RETURN {lead: choice.lead, doubt: choice.doubt, relationship: «relationship»}
} AS reached
ORDER BY query
