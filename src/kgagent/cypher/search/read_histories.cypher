// The histories of the user's nodes with the given keys, and of the relationships among them.
// Parameters: user_id; keys [text].
// Rows: one for each record that has a history: neo4j_type (null for a node), ends [text] (entity_key of the node, or of both nodes),
//   history (as it is stored).
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IN $keys
CALL (n) {
  WITH n
  WHERE n.history IS NOT NULL
  RETURN null AS neo4j_type, [n.entity_key] AS ends, n.history AS history
  UNION ALL
  MATCH (n)-[r:«types»]->(other:«labels»)
  WHERE other.user_id = $user_id AND other.entity_key IN $keys AND r.history IS NOT NULL
    AND coalesce(r.user_id, $user_id) = $user_id
  RETURN type(r) AS neo4j_type, [n.entity_key, other.entity_key] AS ends, r.history AS history
}
RETURN neo4j_type, ends, history
