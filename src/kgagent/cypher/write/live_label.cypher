// What the user has of a label: the nodes, and the relationships that start at them.
// Parameters: user_id; count_limit (nodes counted, and relationships, plus one); names_limit, values_limit, texts_limit, text_limit,
//   hidden: as in _live_properties.
// Rows: one {count, names, values, relationships [{type, starts [labels], ends [labels], count, names, values}]}.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n LIMIT $count_limit + 1
WITH collect(n) AS nodes
CALL (nodes) {
  UNWIND nodes AS a
  MATCH (a)-[r]->(b)
  WHERE «_owned_relationship»
  WITH a, r, b LIMIT $count_limit + 1
  WITH type(r) AS type, labels(a) AS starts, labels(b) AS ends, collect(r) AS records
  «_live_properties»
  RETURN collect({type: type, starts: starts, ends: ends, count: size(records), names: names, values: values}) AS relationships
}
WITH nodes AS records, relationships
«_live_properties»
RETURN size(records) AS count, names, values, relationships
