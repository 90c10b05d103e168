// The user's relationships nearest to each query, from the index that filters by user inside itself.
// Parameters: user_id; dimensions; model; limit; fetch (index hits asked for, at least limit); queries [{position, vector, threshold}].
// Rows: query, similarity (plain cosine), relationship; best first within each query.
UNWIND $queries AS query
CALL (query) {
  MATCH ()-[r]->()
  SEARCH r IN (VECTOR INDEX «index» FOR query.vector WHERE r.user_id = $user_id LIMIT $fetch) SCORE AS score
  WITH r, score
  ORDER BY score DESC
  WHERE 2.0 * score - 1.0 >= query.threshold AND «_eligible_relationship»
  RETURN r, 2.0 * score - 1.0 AS similarity
  LIMIT $limit
}
RETURN query.position AS query, similarity, «_found_relationship» AS relationship
ORDER BY query, similarity DESC, r.relationship_key
