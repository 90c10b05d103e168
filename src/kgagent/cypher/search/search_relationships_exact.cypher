// Compares each of the user's relationships with each query; each vector is read once and not kept.
// Parameters: user_id; dimensions; model; filter; limit; queries [{position from 0, vector, threshold}].
// Rows: one for each query: query, label (empty), matches [{similarity (plain cosine), relationship}], best first.
MATCH (owned:«labels»)-[r:«types»]->(other:«labels»)
WHERE owned.user_id = $user_id AND r.user_id = $user_id AND other.user_id = $user_id
  AND owned.entity_key IS :: STRING NOT NULL AND other.entity_key IS :: STRING NOT NULL
  AND «_kept_relationship»
WITH DISTINCT r
WITH r, r.relationship_embedding AS embedding
WHERE «_comparable_relationship»
WITH r, [query IN $queries | 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0] AS similarities
WHERE any(query IN $queries WHERE similarities[query.position] >= query.threshold)
WITH collect([r, similarities]) AS candidates
UNWIND $queries AS query
CALL (candidates, query) {
  UNWIND candidates AS candidate
  WITH candidate[0] AS r, candidate[1][query.position] AS similarity
  WHERE similarity >= query.threshold
  WITH r, similarity
  ORDER BY similarity DESC, r.relationship_key
  LIMIT $limit
  RETURN collect({similarity: similarity, relationship: «relationship»}) AS matches
}
RETURN query.position AS query, '' AS label, matches
ORDER BY query
