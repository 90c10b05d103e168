// Nodes of the user that references may mean: by key, by the first characters of a key, as owner, by name, or by another name.
// Parameters: user_id; asked {keys [text]; prefixes [text]; owners [any], empty to omit the owners;
//   names [{plain, query, alias_query (Lucene), of_new (whether a new node may get the name)}]; scans [[plain]], at most one list of names that are compared with
//   those of every node of the user}; index; window (index matches to examine of each name); most (nodes of each reference).
// Rows: one {by_key [node], by_prefix [{prefix, node}], owners [node], by_name [{plain, nodes with that name or other
//   name without accents, people whose name has that name as words, is_cut (whether none was found and the index has more matches)}], scanned [{plain, nodes}]}.
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
    WITH n, CASE WHEN n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
      THEN head([text IN [toStringOrNull(n.name)] | «_plain_text»]) END AS name
    RETURN count(*) AS hits, collect(CASE WHEN name = wanted.plain THEN «_referenced_node» END)[..$most] AS nodes,
      collect(CASE WHEN wanted.of_new AND n:«owner» AND name <> wanted.plain AND ' ' + name + ' ' CONTAINS ' ' + wanted.plain + ' '
        THEN «_referenced_node» END)[..$most] AS people
  }
  CALL (wanted) {
    CALL db.index.fulltext.queryNodes($index, wanted.alias_query, {limit: $window}) YIELD node AS n
    WITH n, n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
      AND any(text IN «_aliases» WHERE «_plain_text» = wanted.plain) AS is_meant
    RETURN count(*) AS alias_hits, collect(CASE WHEN is_meant THEN «_referenced_node» END)[..$most] AS called
  }
  RETURN collect({
    plain: wanted.plain, nodes: nodes + called, people: people,
    is_cut: nodes + called = [] AND (hits >= $window OR alias_hits >= $window)
  }) AS by_name
}
CALL () {
  UNWIND $asked.scans AS wanted
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
  WITH n, wanted, [text IN [toStringOrNull(n.name)] | «_plain_text»] AS names,
    [text IN «_aliases» | «_plain_text»] AS others
  UNWIND [name IN names + others WHERE name IN wanted] AS plain
  WITH DISTINCT n, plain, plain IN names AS is_name
  WITH plain, collect(CASE WHEN is_name THEN «_referenced_node» END)[..$most] AS nodes,
    collect(CASE WHEN NOT is_name THEN «_referenced_node» END)[..$most] AS called
  RETURN collect({plain: plain, nodes: nodes + called}) AS scanned
}
RETURN by_key, by_prefix, owners, by_name, scanned
