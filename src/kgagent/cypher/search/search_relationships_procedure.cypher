// The user's relationships of one Neo4j type nearest to one query, for servers whose indexes cannot filter.
// Parameters: user_id; dimensions; filter; model; limit; fetch (matches to fetch); index; query {position, vector, threshold}.
// The index only estimates similarities, so they are computed again.
// Rows: one: query, label (empty), least estimate among the index matches (null if there are none), matches [{similarity (plain cosine), relationship}], best first.
CALL db.index.vector.queryRelationships($index, $fetch, $query.vector) YIELD relationship AS r, score
WITH r, 2.0 * score - 1.0 AS estimate,
  r.user_id = $user_id AND «_eligible_relationship»
  AND «_kept_relationship» AS wanted
WITH r, estimate, CASE
    WHEN wanted THEN 2.0 * vector.similarity.cosine(r.relationship_embedding, $query.vector) - 1.0
  END AS similarity
ORDER BY similarity DESC, r.relationship_key
WITH min(estimate) AS least,
  collect(CASE WHEN similarity >= $query.threshold THEN {r: r, similarity: similarity} END)[..$limit] AS kept
RETURN $query.position AS query, '' AS label, least, COLLECT {
  UNWIND kept AS hit
  WITH hit, hit.r AS r
  RETURN {similarity: hit.similarity, relationship: «relationship»}
} AS matches
