// The user's statements nearest to one query, for servers whose indexes cannot filter.
// Parameters: user_id; dimensions; model; filter; limit (records); of_record (statements of each); fetch (matches
//   to fetch); index; query {position, vector, threshold}.
// The index only estimates similarities, so they are computed again.
// Rows: one: query, label, least estimate among the index matches (null if there are none), matches (see `_statement_match`).
CALL db.index.vector.queryNodes($index, $fetch, $query.vector) YIELD node AS n, score
WITH n, 2.0 * score - 1.0 AS estimate,
  n.user_id = $user_id AND «_eligible_node» AND «_kept_statement» AS wanted
WITH n, estimate, CASE
    WHEN wanted THEN 2.0 * vector.similarity.cosine(n.embedding, $query.vector) - 1.0
  END AS similarity
ORDER BY similarity DESC, n.entity_key
WITH min(estimate) AS least,
  collect(CASE WHEN similarity >= $query.threshold THEN {n: n, similarity: similarity} END) AS kept
CALL (kept) {
  UNWIND kept AS hit
  WITH hit.n AS n, hit.similarity AS similarity, -hit.similarity AS place
  «_statement_match»
}
RETURN $query.position AS query, head(keys({«label»: null})) AS label, least, matches
