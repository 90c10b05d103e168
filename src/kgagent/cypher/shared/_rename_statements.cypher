// Gives the entries of relationships at nodes of `written` (see `_index_statements.cypher`) the present names of these nodes.
CALL (written) {
  UNWIND written AS one
  WITH one
  WHERE one.row.stated.is_renamed
  WITH one.record AS n
  MATCH (n)-[r]-()
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record = r.relationship_key
  WITH DISTINCT entry, «_ends_in_direction» AS ends
  WITH entry, «_statement_names» AS names
  WHERE entry.names <> names
  SET entry.names = names
}
