// The user's nodes whose names are most similar to some texts, best first.
// Parameters: user_id; asked {texts [{text, query (Lucene)}]}; index; window (index matches to examine of each text); most (nodes of each text).
// Rows: text, nodes.
UNWIND $asked.texts AS wanted
CALL (wanted) {
  CALL db.index.fulltext.queryNodes($index, wanted.query, {limit: $window}) YIELD node AS n, score
  WITH n, score
  WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND n.name IS :: STRING NOT NULL
  WITH n ORDER BY score DESC, n.entity_key
  LIMIT $most
  RETURN collect(«_referenced_node») AS nodes
}
RETURN wanted.text AS text, nodes
