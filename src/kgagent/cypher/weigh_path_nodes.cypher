// What the nodes of paths count in a ranking.
// Parameters: user_id; ids [element id]; vector (or null), dimensions, model.
// Rows: id, centrality (ln(1 + degree), the user's own relationships counted), similarity (plain cosine, or null).
UNWIND $ids AS id
MATCH (n) WHERE elementId(n) = id
WITH n, id, CASE WHEN $vector IS NOT NULL THEN n.embedding END AS embedding
WHERE n.user_id = $user_id
RETURN id, log(1 + COUNT { (n)-[r]-(m) WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id }) AS centrality,
  CASE WHEN «_comparable_node» THEN 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 END AS similarity
