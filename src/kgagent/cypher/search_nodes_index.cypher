// The user's nodes of one label nearest to each query, from the index that filters by user inside itself.
// Parameters: user_id; dimensions; model; limit; fetch (index hits asked for, at least limit); queries [{position, vector, threshold}].
// Rows: query, similarity (plain cosine), node; best first within each query.
UNWIND $queries AS query
CALL (query) {
  MATCH (n)
  SEARCH n IN (VECTOR INDEX «index» FOR query.vector WHERE n.user_id = $user_id LIMIT $fetch) SCORE AS score
  WITH n, score
  ORDER BY score DESC
  WHERE 2.0 * score - 1.0 >= query.threshold AND «_eligible_node»
  RETURN n, 2.0 * score - 1.0 AS similarity
  LIMIT $limit
}
RETURN query.position AS query, similarity, «_found_node» AS node
ORDER BY query, similarity DESC, n.entity_key
