// The user's nodes whose name or other name stands in a text; the people of whose name a word stands there, if that means
// them; and the owner of the graph if the text speaks of the owner. Each with the statements about it and its relationships
// that are nearest to the query.
// Parameters: user_id; index; queries [{position, plain (the text without accents), names (Lucene), speaks_of_owner,
//   has_parts (whether a word of a name means a person), vector or null}]; dimensions; model; filter; fetch (matches of the
//   full-text index); node_limit (nodes of each query); hub_limit (statements read at a node); limit (records at each node);
//   of_record (statements of each).
// Rows: one for each node of a query: query, entity_key, names, is_owner, parts (the words of the name of a person), degree,
//   matches (see `_statement_match`).
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryNodes($index, query.names, {limit: $fetch}) YIELD node AS n, score
  WITH n, score, [name IN [toStringOrNull(n.name)] + «_aliases» WHERE trim(name) <> ''] AS names, query
  WITH n, score, names, query,
    CASE WHEN query.has_parts AND n:«owner» THEN [part IN split(names[0], ' ') WHERE part <> ''] ELSE [] END AS parts
  WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
    AND any(text IN names + parts WHERE query.plain CONTAINS «_plain_text»)
  RETURN n AS named, names, score, false AS is_owner, parts
  ORDER BY score DESC, named.entity_key
  LIMIT $node_limit
UNION ALL
  WITH query
  WHERE query.speaks_of_owner
  MATCH (n:«owner»)
  WHERE n.user_id = $user_id AND n.is_owner = true AND n.entity_key IS :: STRING NOT NULL
  RETURN n AS named, [] AS names, 0.0 AS score, true AS is_owner, [] AS parts
}
CALL (query, named) {
  CALL (named) {
    MATCH (n:«label»)
    WHERE n.user_id = $user_id AND n.from_entity_key = named.entity_key
    RETURN n LIMIT $hub_limit
  UNION
    MATCH (n:«label»)
    WHERE n.user_id = $user_id AND n.to_entity_key = named.entity_key
    RETURN n LIMIT $hub_limit
  }
  WITH query, n, n.embedding AS embedding
  WHERE query.vector IS NOT NULL AND «_kept_statement» AND «_comparable_node»
  WITH n, 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0 AS similarity
  WITH n, similarity, -similarity AS place
  «_statement_match»
}
RETURN query.position AS query, named.entity_key AS entity_key, names, is_owner, parts,
  COUNT { (named)-[:«types»]-() } AS degree, matches
ORDER BY query, is_owner DESC, score DESC, entity_key
