// The user's nodes that a full-text index finds for each query, best first.
// Parameters: user_id; dimensions; model; labels [text]; index; queries [{position, text (Lucene), vector or null}]; limit; fetch (matches to
//   fetch); least_share (minimum score, as a share of the best one).
// Rows: one for each query: query, hits (number of index matches), found (those that are the user's, up to limit), matches [{score (BM25,
//   above 0), similarity (plain cosine, or null), node}].
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryNodes($index, query.text, {limit: $fetch}) YIELD node AS n, score
  WITH n, score, n.user_id = $user_id AND score > 0 AND any(label IN labels(n) WHERE label IN $labels) AS wanted
  ORDER BY score DESC, n.entity_key
  RETURN count(*) AS hits, collect(CASE WHEN wanted THEN {n: n, score: score} END)[..$limit] AS kept
}
RETURN query.position AS query, hits, size(kept) AS found, COLLECT {
  UNWIND [hit IN kept WHERE hit.score >= $least_share * kept[0].score] AS hit
  WITH hit, hit.n AS n, hit.n.«node_embedding» AS embedding
  RETURN {score: hit.score, node: «_found_node»,
    similarity: CASE WHEN query.vector IS NOT NULL AND «_comparable_node»
      THEN 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0 END}
} AS matches
ORDER BY query
