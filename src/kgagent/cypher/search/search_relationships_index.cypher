// The user's relationships nearest to each query, from the index that filters inside itself: by user, and by what the
// fragments «within_types» and «within_days» name.
// Parameters: user_id; dimensions; relationship_types [text] or null; filter; model; limit; fetch (index matches to fetch, at least limit);
// estimated (whether the index only estimates similarities, which are then computed again); queries [{position, vector, threshold}].
// Rows: one for each query: query, label (empty), hits (number of index matches), least score among them as cosine,
// matches [{similarity (plain cosine), relationship}], best first.
UNWIND $queries AS query
CALL (query) {
  MATCH ()-[r]->()
  SEARCH r IN (VECTOR INDEX «index» FOR query.vector WHERE r.user_id = $user_id «within_types» «within_days» LIMIT $fetch) SCORE AS score
  WITH r, 2.0 * score - 1.0 AS indexed, CASE
      WHEN NOT $estimated THEN 2.0 * score - 1.0
      WHEN «_eligible_relationship» THEN 2.0 * vector.similarity.cosine(r.relationship_embedding, query.vector) - 1.0
    END AS similarity
  ORDER BY similarity DESC, r.relationship_key
  RETURN count(*) AS hits, min(indexed) AS least, collect(
    CASE WHEN similarity >= query.threshold AND «_eligible_relationship»
      AND «_kept_relationship» THEN {r: r, similarity: similarity} END
  )[..$limit] AS kept
}
RETURN query.position AS query, '' AS label, hits, least, COLLECT {
  UNWIND kept AS hit
  WITH hit, hit.r AS r
  RETURN {similarity: hit.similarity, relationship: «relationship»}
} AS matches
