// Nodes of the user that are marked as the owner of the graph.
// Parameters: user_id.
// Rows: one {nodes}.
MATCH (n:«owner»)
WHERE n.user_id = $user_id AND n.is_owner = true
RETURN collect(«_referenced_node») AS nodes
