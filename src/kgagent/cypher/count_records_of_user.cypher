// Counts what a user has.
// Parameters: user_id.
// Rows: one {nodes, relationships, deleted, items}.
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
CALL () {
  MATCH (n:«item»)
  WHERE n.user_id = $user_id AND n.path IS NOT NULL AND n.key IS NOT NULL
  RETURN count(n) AS items
}
RETURN nodes, relationships, deleted, items
