// Centrality of the nodes of paths, and their similarity with the query. One row, as thousands of rows are slow to transfer.
// Parameters: user_id; ids [element id]; vector (or null), dimensions, model.
// Rows: one, scores [[position in ids, ln(1 + degree) over the user's own relationships, plain cosine or null]].
UNWIND range(0, size($ids) - 1) AS position
WITH position, $ids[position] AS id
MATCH (n) WHERE elementId(n) = id
WITH n, position, CASE WHEN $vector IS NOT NULL THEN n.«node_embedding» END AS embedding
WHERE n.user_id = $user_id
WITH position, log(1 + COUNT { (n)-[r]-(m) WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id }) AS centrality,
  CASE WHEN «_comparable_node» THEN 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 END AS similarity
RETURN collect([position, centrality, similarity]) AS scores
