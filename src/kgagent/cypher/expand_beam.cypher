// Relationships that share a node with one of the frontier, scored by the path that leads to them and by themselves.
// What a relationship has in common with the one before it (mostly the shared node) is taken from its own similarity.
// Parameters: user_id; relationship_types [text] or null; vector; dimensions; model; frontier [{element_id, score,
//   path [element ids]}]; hub_limit (relationships read at a node); limit; path_weight; overlap_weight.
// Rows: lead (element id of the one before), score, similarity (plain cosine), relationship; best first.
UNWIND $frontier AS step
MATCH ()-[lead:«types»]->()
WHERE elementId(lead) = step.element_id
WITH step, lead, lead.relationship_embedding AS before
UNWIND [startNode(lead), endNode(lead)] AS shared
CALL (step, lead, before, shared) {
  MATCH (shared)-[r:«types»]-(other)
  WHERE r.user_id = $user_id AND shared.user_id = $user_id AND other.user_id = $user_id
    AND r <> lead AND NOT elementId(r) IN step.path
    AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
  WITH r, before
  LIMIT $hub_limit
  WITH r, before, r.relationship_embedding AS embedding
  WHERE «_comparable_relationship»
  WITH r, 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 AS similarity,
    2.0 * vector.similarity.cosine(embedding, before) - 1.0 AS overlap
  WITH collect([r, similarity, overlap]) AS siblings, avg(overlap) AS usual
  UNWIND siblings AS sibling
  RETURN sibling[0] AS r, sibling[1] AS similarity, sibling[1] + $overlap_weight * (usual - sibling[2]) AS own
}
WITH r, similarity, step, $path_weight * step.score + (1.0 - $path_weight) * own AS score
ORDER BY score DESC, step.element_id
WITH r, similarity, head(collect([score, step.element_id])) AS best
ORDER BY best[0] DESC, r.relationship_key
LIMIT $limit
RETURN best[1] AS lead, best[0] AS score, similarity, «_found_relationship» AS relationship
ORDER BY score DESC, r.relationship_key
