// The user's relationships that a full-text index finds for each query, best first.
// Parameters: user_id; dimensions; model; filter; index; queries [{position, text
//   (Lucene), vector or null}]; limit; fetch (matches to fetch); least_share (minimum score, as a share of the best one).
// Rows: one for each query: query, hits (number of index matches), found (those that are the user's, up to limit), matches [{score (BM25,
//   above 0), similarity (plain cosine, or null), relationship}].
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryRelationships($index, query.text, {limit: $fetch}) YIELD relationship AS r, score
  WITH r, score, r.user_id = $user_id AND startNode(r).user_id = $user_id AND endNode(r).user_id = $user_id
    AND startNode(r).entity_key IS :: STRING NOT NULL AND endNode(r).entity_key IS :: STRING NOT NULL
    AND score > 0
    AND «_kept_relationship» AS wanted
  ORDER BY score DESC, r.relationship_key
  RETURN count(*) AS hits, collect(CASE WHEN wanted THEN {r: r, score: score} END)[..$limit] AS kept
}
RETURN query.position AS query, hits, size(kept) AS found, COLLECT {
  UNWIND [hit IN kept WHERE hit.score >= $least_share * kept[0].score] AS hit
  WITH hit, hit.r AS r, hit.r.relationship_embedding AS embedding
  RETURN {score: hit.score, relationship: «relationship»,
    similarity: CASE WHEN query.vector IS NOT NULL AND «_comparable_relationship»
      THEN 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0 END}
} AS matches
ORDER BY query
