// The free types of the user's relationships that full-text queries find, for each of several queries.
// Parameters: user_id; index; queries [text (Lucene)]; window (index matches to examine of each query).
// Rows: types [text]; one for each query, in their order.
UNWIND range(0, size($queries) - 1) AS position
CALL (position) {
  CALL db.index.fulltext.queryRelationships($index, $queries[position], {limit: $window}) YIELD relationship AS r
  WITH startNode(r) AS a, r, endNode(r) AS b
  WHERE «_owned_relationship» AND r.relationship_type IS :: STRING NOT NULL
  RETURN collect(DISTINCT r.relationship_type) AS types
}
RETURN types
ORDER BY position
