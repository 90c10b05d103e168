// What the relationships of paths count in a ranking.
// Parameters: user_id; ids [element id]; weight_property; vector (or null), dimensions, model.
// Rows: id, weight (1 where there is no number), similarity (plain cosine, or null).
UNWIND $ids AS id
MATCH (a)-[r]->(b) WHERE elementId(r) = id
WITH a, r, b, id
WHERE «_owned_relationship»
WITH r, id, toFloatOrNull(r[$weight_property]) AS weight,
  CASE WHEN $vector IS NOT NULL THEN r.relationship_embedding END AS embedding
RETURN id, CASE WHEN abs(weight) <= 1e15 THEN weight ELSE 1.0 END AS weight,
  CASE WHEN «_comparable_relationship» THEN 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 END AS similarity
