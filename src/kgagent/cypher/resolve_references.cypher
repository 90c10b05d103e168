// Nodes of the user that references may mean: by key, by the first characters of a key, as owner, or by name.
// Parameters: user_id; asked {keys [text]; prefixes [text]; owners [any], empty to leave out the owners;
//   names [{folded (text), query (Lucene)}]}; index; window (index matches to examine of each name); most (nodes of each reference).
// Rows: one {by_key [node], by_prefix [{prefix, node}], owners [node], by_name [{folded, hits, nodes}]}.
CALL () {
  UNWIND $asked.keys AS key
  MATCH (n:«labels» {entity_key: key})
  WHERE n.user_id = $user_id
  RETURN collect(«_referenced_node») AS by_key
}
CALL () {
  UNWIND $asked.prefixes AS prefix
  CALL (prefix) {
    MATCH (n:«labels»)
    WHERE n.entity_key STARTS WITH prefix AND n.user_id = $user_id
    RETURN n
    LIMIT $most
  }
  RETURN collect({prefix: prefix, node: «_referenced_node»}) AS by_prefix
}
CALL () {
  UNWIND $asked.owners AS owner
  MATCH (n:«owner»)
  WHERE n.user_id = $user_id AND n.is_owner = true
  WITH n
  LIMIT $most
  RETURN collect(«_referenced_node») AS owners
}
CALL () {
  UNWIND $asked.names AS wanted
  CALL (wanted) {
    CALL db.index.fulltext.queryNodes($index, wanted.query, {limit: $window}) YIELD node AS n
    WITH n, n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND «_folded_name» = wanted.folded AS is_meant
    RETURN count(*) AS hits, collect(CASE WHEN is_meant THEN «_referenced_node» END)[..$most] AS nodes
  }
  RETURN collect({folded: wanted.folded, hits: hits, nodes: nodes}) AS by_name
}
RETURN by_key, by_prefix, owners, by_name
