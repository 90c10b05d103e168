// The user's nodes, of one label if it is given, whose name a full-text query finds, for each of several queries.
// Parameters: user_id; index; queries [{position, label or null, text (Lucene), of_alias (any value, to keep only nodes with other names)}]; excluded [entity keys]; fetch (index matches of each
//   query); limit (rows of each query).
// Rows: position, element_id, entity_key, labels, name, description (its first 200 characters), aliases, trust, user_id; of each query, best first.
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryNodes($index, query.text, {limit: $fetch}) YIELD node AS n, score
  WITH n, score
  WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
    AND (query.label IS NULL OR query.label IN labels(n)) AND NOT n.entity_key IN $excluded
    AND (query.of_alias IS NULL OR n.aliases IS NOT NULL)
  RETURN n
  ORDER BY score DESC, n.entity_key
  LIMIT $limit
}
RETURN query.position AS position, elementId(n) AS element_id, n.entity_key AS entity_key, labels(n) AS labels,
  toStringOrNull(n.name) AS name, left(toStringOrNull(n.description), 200) AS description, «_aliases» AS aliases,
  n.trust_class AS trust, n.user_id AS user_id
