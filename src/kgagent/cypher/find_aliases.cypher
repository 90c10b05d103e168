// The user's nodes with other names among those that a full-text query finds, for each of several queries.
// Parameters: user_id; index; queries [text (Lucene)]; window (index matches to examine of each query).
// Rows: hits, nodes; one for each query, in their order.
UNWIND range(0, size($queries) - 1) AS position
CALL (position) {
  CALL db.index.fulltext.queryNodes($index, $queries[position], {limit: $window}) YIELD node AS n
  WITH n, n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND n.aliases IS NOT NULL AS has_aliases
  RETURN count(*) AS hits, collect(CASE WHEN has_aliases THEN «_referenced_node» END) AS nodes
}
RETURN hits, nodes
ORDER BY position
