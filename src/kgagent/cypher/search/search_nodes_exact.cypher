// Compares each of the user's nodes of one label with each query; each vector is read once and not kept.
// Parameters: user_id; dimensions; model; limit; queries [{position from 0, vector, threshold}].
// Rows: one for each query: query, label, matches [{similarity (plain cosine), node}], best first.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n, n.«node_embedding» AS embedding
WHERE «_comparable_node»
WITH n, [query IN $queries | 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0] AS similarities
WHERE any(query IN $queries WHERE similarities[query.position] >= query.threshold)
WITH collect([n, similarities]) AS candidates
UNWIND $queries AS query
CALL (candidates, query) {
  UNWIND candidates AS candidate
  WITH candidate[0] AS n, candidate[1][query.position] AS similarity
  WHERE similarity >= query.threshold
  WITH n, similarity
  ORDER BY similarity DESC, n.entity_key
  LIMIT $limit
  RETURN collect({similarity: similarity, node: «_found_node»}) AS matches
}
RETURN query.position AS query, head(keys({«label»: null})) AS label, matches
ORDER BY query
