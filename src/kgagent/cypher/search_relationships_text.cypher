// The user's relationships that a full-text index finds, best first.
// Parameters: user_id; relationship_types [text] or null; index; query (Lucene); limit; fetch (hits asked for); dimensions (null).
// Rows: one {hits (what the index gave in all), matches [{score (BM25, above 0), relationship}]}.
CALL db.index.fulltext.queryRelationships($index, $query, {limit: $fetch}) YIELD relationship AS r, score
WITH r, score, r.user_id = $user_id AND startNode(r).user_id = $user_id AND endNode(r).user_id = $user_id
  AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types) AS wanted
ORDER BY score DESC, r.relationship_key
WITH count(*) AS hits, collect(CASE WHEN wanted THEN {r: r, score: score} END)[..$limit] AS kept
RETURN hits, COLLECT {
  UNWIND kept AS hit
  WITH hit, hit.r AS r
  RETURN {score: hit.score, relationship: «_found_relationship»}
} AS matches
