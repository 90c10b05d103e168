// Counts relationships that name a user as their owner but are not at the user's nodes, and nodes that name the user although
// kgagent does not manage their labels.
// Parameters: user_id.
// Rows: one {relationships, other_nodes}.
CALL () {
  MATCH (a)-[r:«types»]->(b)
  WHERE r.user_id = $user_id AND NOT (a:«labels» AND coalesce(a.user_id = $user_id, false))
    AND NOT (b:«labels» AND coalesce(b.user_id = $user_id, false))
  RETURN count(r) AS relationships
}
CALL () {
  MATCH (n)
  WHERE n.user_id = $user_id AND NOT n:«labels» AND NOT n:«all_deleted» AND NOT n:KgagentStatement
  RETURN count(n) AS other_nodes
}
RETURN relationships, other_nodes
