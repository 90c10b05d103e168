// The user's nodes that may be the same things as some nodes: they have an alias of one as their name, or a full-text
// query finds them by alias or by name.
// Parameters: user_id; index; keys [entity keys of the given nodes]; of_user (Lucene); by_alias (Lucene);
//   by_name [Lucene, at most one]; limit (matches of each query).
// Rows: element_id, entity_key, name, aliases, aliases_of [keys of the given nodes with this name as an alias]; the surest first.
CALL () {
  UNWIND $keys AS key
  MATCH (n:«labels» {entity_key: key})
  WHERE n.user_id = $user_id AND n.aliases IS NOT NULL
  UNWIND «_aliases» AS alias
  WITH DISTINCT key, alias, $of_user + ' +name:"' + replace(replace(alias, '\\', '\\\\'), '"', '\\"') + '"' AS text
  CALL db.index.fulltext.queryNodes($index, text, {limit: $limit}) YIELD node AS n
  WITH key, alias, n
  WHERE toLower(trim(toStringOrNull(n.name))) = toLower(trim(alias))
  RETURN n, key, 0 AS rank, 0.0 AS score
UNION ALL
  CALL db.index.fulltext.queryNodes($index, $by_alias, {limit: $limit}) YIELD node AS n, score
  WITH n, score
  WHERE n.aliases IS NOT NULL
  RETURN n, null AS key, 1 AS rank, score
UNION ALL
  UNWIND $by_name AS text
  CALL db.index.fulltext.queryNodes($index, text, {limit: $limit}) YIELD node AS n, score
  RETURN n, null AS key, 2 AS rank, score
}
WITH n, collect(key) AS aliases_of, min(rank) AS rank, max(score) AS score
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND NOT n.entity_key IN $keys
RETURN elementId(n) AS element_id, n.entity_key AS entity_key, toStringOrNull(n.name) AS name, «_aliases» AS aliases,
  aliases_of
ORDER BY rank, score DESC, entity_key
