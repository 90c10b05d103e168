// Counts what a user has.
// Parameters: user_id.
// Rows: one {nodes, relationships, deleted}.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id
  RETURN count(n) AS nodes
}
CALL () {
  MATCH (n:«labels»)-[r]-()
  WHERE n.user_id = $user_id
  RETURN count(DISTINCT r) AS relationships
}
CALL () {
  MATCH (n:«all_deleted»)
  WHERE n.user_id = $user_id
  RETURN count(n) AS deleted
}
RETURN nodes, relationships, deleted
