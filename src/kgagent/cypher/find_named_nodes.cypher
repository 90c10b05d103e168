// The user's nodes whose name or other name stands in a text, and the owner of the graph if the text speaks of the owner; each
// with the relationships there that are nearest to the query.
// Parameters: user_id; index; queries [{position, plain (the text without accents), names (Lucene), speaks_of_owner,
//   vector or null}]; dimensions; model; filter; fetch (matches of the full-text index); node_limit (nodes of
//   each query); hub_limit (relationships read at a node); limit (relationships of each node).
// Rows: one for each node of a query: query, entity_key, names, is_owner, text_score (of the name), degree, matches [{similarity (plain
//   cosine), relationship}], best first.
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryNodes($index, query.names, {limit: $fetch}) YIELD node AS n, score
  WITH n, score, [name IN [toStringOrNull(n.name)] + «_aliases» WHERE trim(name) <> ''] AS names, query
  WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
    AND any(text IN names WHERE query.plain CONTAINS «_plain_text»)
  RETURN n, names, score, false AS is_owner
  ORDER BY score DESC, n.entity_key
  LIMIT $node_limit
UNION ALL
  WITH query
  WHERE query.speaks_of_owner
  MATCH (n:«owner»)
  WHERE n.user_id = $user_id AND n.is_owner = true AND n.entity_key IS :: STRING NOT NULL
  RETURN n, [] AS names, 0.0 AS score, true AS is_owner
}
CALL (query, n) {
  MATCH (n)-[r:«types»]-(other)
  WITH query, r, other
  WHERE coalesce(r.user_id, $user_id) = $user_id AND other.user_id = $user_id AND other.entity_key IS :: STRING NOT NULL
    AND «_kept_relationship»
  WITH DISTINCT query, r
  LIMIT $hub_limit
  WITH query, r, r.relationship_embedding AS embedding
  WHERE query.vector IS NOT NULL AND «_comparable_relationship»
  WITH r, 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0 AS similarity
  ORDER BY similarity DESC, r.relationship_key
  LIMIT $limit
  RETURN collect({similarity: similarity, relationship: «relationship»}) AS matches
}
RETURN query.position AS query, n.entity_key AS entity_key, names, is_owner, score AS text_score,
  COUNT { (n)-[:«types»]-() } AS degree, matches
ORDER BY query, is_owner DESC, text_score DESC, entity_key
