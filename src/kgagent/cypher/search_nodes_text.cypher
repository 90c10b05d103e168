// The user's nodes that a full-text index finds, best first.
// Parameters: user_id; labels [text]; index; query (Lucene); limit; fetch (matches to fetch);
//   least_share (minimum score, as a share of the best one).
// Rows: one {hits (number of index matches), found (those that are the user's, up to limit), matches [{score (BM25, above 0), node}]}.
CALL db.index.fulltext.queryNodes($index, $query, {limit: $fetch}) YIELD node AS n, score
WITH n, score, n.user_id = $user_id AND score > 0 AND any(label IN labels(n) WHERE label IN $labels) AS wanted
ORDER BY score DESC, n.entity_key
WITH count(*) AS hits, collect(CASE WHEN wanted THEN {n: n, score: score} END)[..$limit] AS kept
RETURN hits, size(kept) AS found, COLLECT {
  UNWIND [hit IN kept WHERE hit.score >= $least_share * kept[0].score] AS hit
  WITH hit, hit.n AS n
  RETURN {score: hit.score, node: «_found_node»}
} AS matches
