// The user's nodes and relationships that have a history.
// Parameters: user_id.
// Rows: node or relationship, the other one null.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.history IS NOT NULL
RETURN «_path_node» AS node, null AS relationship
UNION ALL
MATCH (a:«labels»)-[r:«types»]->(b)
WHERE «_owned_relationship» AND r.history IS NOT NULL
RETURN null AS node, «_path_relationship» AS relationship
