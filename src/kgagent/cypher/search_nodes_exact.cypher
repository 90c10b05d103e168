// Compares each of the user's nodes of one label with each query.
// Parameters: user_id; dimensions; model; limit; queries [{position, vector, threshold}].
// Rows: query, similarity (plain cosine), node; best first within each query.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n, «_comparable_node» AS comparable
WHERE comparable
WITH collect(n) AS candidates
UNWIND $queries AS query
CALL (candidates, query) {
  UNWIND candidates AS n
  WITH n, 2.0 * vector.similarity.cosine(n.embedding, query.vector) - 1.0 AS similarity
  WHERE similarity >= query.threshold
  RETURN n, similarity
  ORDER BY similarity DESC, n.entity_key
  LIMIT $limit
}
RETURN query.position AS query, similarity, «_node» AS node
ORDER BY query, similarity DESC, n.entity_key
