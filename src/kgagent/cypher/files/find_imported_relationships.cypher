// The nodes at both ends of relationships of a file, and the relationships of the type between them, in either direction.
// Parameters: user_id; rows [{position, neo4j_type, start_label, start_key, end_label, end_key}]; omitted [names of properties].
// Rows: position, start_id and end_id (null for a node that does not exist), records, see the fragment.
UNWIND $rows AS row
CALL (row) {
  OPTIONAL MATCH (a:«labels» {entity_key: row.start_key})
  WHERE a.user_id = $user_id AND row.start_label IN labels(a)
  RETURN head(collect(a)) AS a
}
CALL (row) {
  OPTIONAL MATCH (b:«labels» {entity_key: row.end_key})
  WHERE b.user_id = $user_id AND row.end_label IN labels(b)
  RETURN head(collect(b)) AS b
}
CALL (row, a, b) {
  OPTIONAL MATCH (a)-[r]-(b)
  WHERE type(r) = row.neo4j_type
  RETURN [record IN collect(CASE WHEN r IS NOT NULL THEN «_exported_relationship» END) | record] AS records
}
RETURN row.position AS position, elementId(a) AS start_id, elementId(b) AS end_id, records
