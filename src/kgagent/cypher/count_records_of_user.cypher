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
  RETURN count(DISTINCT r) AS own
}
CALL () {
  MATCH (a)-[r:«types»]->(b)
  WHERE r.user_id = $user_id AND NOT (a:«labels» AND coalesce(a.user_id = $user_id, false))
    AND NOT (b:«labels» AND coalesce(b.user_id = $user_id, false))
  RETURN count(r) AS foreign
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
RETURN nodes, own + foreign AS relationships, deleted, items
