// Weight of the relationships of paths, and their similarity with the query. One row, as thousands of rows are slow to transfer.
// Parameters: user_id; ids [element id]; weight_property; vector (or null), dimensions, model.
// Rows: one, scores [[position in ids, weight (1 if it is not a number), plain cosine or null]].
UNWIND range(0, size($ids) - 1) AS position
WITH position, $ids[position] AS id
MATCH (a)-[r]->(b) WHERE elementId(r) = id
WITH a, r, b, position
WHERE «_owned_relationship»
WITH r, position, toFloatOrNull(r[$weight_property]) AS weight,
  CASE WHEN $vector IS NOT NULL THEN r.relationship_embedding END AS embedding
WITH position, CASE WHEN abs(weight) <= 1e15 THEN weight ELSE 1.0 END AS weight,
  CASE WHEN «_comparable_relationship» THEN 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 END AS similarity
RETURN collect([position, weight, similarity]) AS scores
