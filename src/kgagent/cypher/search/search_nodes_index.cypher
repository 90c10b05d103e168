// The user's nodes of one label that are nearest to each query, from the index that filters by user inside itself.
// Parameters: user_id; dimensions; model; limit; fetch (index matches to fetch, at least limit);
// estimated (whether the index only estimates similarities, which are then computed again); queries [{position, vector, threshold}].
// Rows: one for each query: query, label, hits (number of index matches), least score among them as cosine,
// matches [{similarity (plain cosine), node}], best first.
UNWIND $queries AS query
CALL (query) {
  MATCH (n)
  SEARCH n IN (VECTOR INDEX «index» FOR query.vector WHERE n.user_id = $user_id LIMIT $fetch) SCORE AS score
  WITH n, 2.0 * score - 1.0 AS indexed, CASE
      WHEN NOT $estimated THEN 2.0 * score - 1.0
      WHEN «_eligible_node» THEN 2.0 * vector.similarity.cosine(n.«node_embedding», query.vector) - 1.0
    END AS similarity
  ORDER BY similarity DESC, n.entity_key
  RETURN count(*) AS hits, min(indexed) AS least, collect(
    CASE WHEN similarity >= query.threshold AND «_eligible_node» THEN {n: n, similarity: similarity} END
  )[..$limit] AS kept
}
RETURN query.position AS query, head(keys({«label»: null})) AS label, hits, least, COLLECT {
  UNWIND kept AS hit
  WITH hit, hit.n AS n
  RETURN {similarity: hit.similarity, node: «_found_node»}
} AS matches
