// Deletes nodes of the user with all their relationships, and keeps nothing of them.
// Parameters: user_id; element_ids.
// Rows: one {nodes, relationships}, how many were deleted.
CALL () {
  UNWIND $element_ids AS wanted
  MATCH (n)-[r]-()
  WHERE elementId(n) = wanted AND n.user_id = $user_id
  WITH DISTINCT r
  DELETE r
  RETURN count(r) AS relationships
}
CALL () {
  UNWIND $element_ids AS wanted
  MATCH (n)
  WHERE elementId(n) = wanted AND n.user_id = $user_id
  DETACH DELETE n
  RETURN count(*) AS nodes
}
RETURN nodes, relationships
