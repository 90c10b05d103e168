// The user's notes nearest to each query, from the index that filters inside itself: by user, and by what the fragment
// «within_days» names.
// Parameters: user_id; dimensions; model; filter; limit; fetch (index matches to fetch, at least limit);
// estimated (whether the index only estimates similarities, which are then computed again); queries [{position, vector, threshold}].
// Rows: one for each query: query, hits (number of index matches), least score among them as cosine,
// matches [{similarity (plain cosine), content, node or null, relationship or null}], best first.
UNWIND $queries AS query
CALL (query) {
  MATCH (n)
  SEARCH n IN (VECTOR INDEX «index» FOR query.vector WHERE n.user_id = $user_id «within_days» LIMIT $fetch) SCORE AS score
  WITH n, 2.0 * score - 1.0 AS indexed, CASE
      WHEN NOT $estimated THEN 2.0 * score - 1.0
      WHEN «_eligible_node» THEN 2.0 * vector.similarity.cosine(n.embedding, query.vector) - 1.0
    END AS similarity
  ORDER BY similarity DESC, n.entity_key
  RETURN count(*) AS hits, min(indexed) AS least, collect(
    CASE WHEN similarity >= query.threshold AND «_eligible_node» AND «_kept_note» THEN {n: n, similarity: similarity} END
  ) AS kept
}
CALL (kept) {
  UNWIND kept AS hit
  WITH hit.n AS note, hit.similarity AS similarity
  «_note_hit»
}
RETURN query.position AS query, hits, least, matches
