// The user's statements nearest to each query, from the index that filters inside itself: by user, and by what the fragments
// «within_types», «within_days» and «within_trust» name.
// Parameters: user_id; dimensions; model; relationship_types [text] or null; filter; limit (records); of_record
// (statements of each); fetch (index matches to fetch, at least limit);
// estimated (whether the index only estimates similarities, which are then computed again); queries [{position, vector, threshold}].
// Rows: one for each query: query, label, hits (number of index matches), least score among them as cosine, matches (see `_statement_match`).
UNWIND $queries AS query
CALL (query) {
  MATCH (n)
  SEARCH n IN (VECTOR INDEX «index» FOR query.vector WHERE n.user_id = $user_id «within_types» «within_days» «within_trust» LIMIT $fetch) SCORE AS score
  WITH n, 2.0 * score - 1.0 AS indexed, CASE
      WHEN NOT $estimated THEN 2.0 * score - 1.0
      WHEN «_eligible_node» THEN 2.0 * vector.similarity.cosine(n.embedding, query.vector) - 1.0
    END AS similarity
  ORDER BY similarity DESC, n.entity_key
  RETURN count(*) AS hits, min(indexed) AS least, collect(
    CASE WHEN similarity >= query.threshold AND «_eligible_node» AND «_kept_statement» THEN {n: n, similarity: similarity} END
  ) AS kept
}
CALL (kept) {
  UNWIND kept AS hit
  WITH hit.n AS n, hit.similarity AS similarity, -hit.similarity AS place
  «_statement_match»
}
RETURN query.position AS query, head(keys({«label»: null})) AS label, hits, least, matches
