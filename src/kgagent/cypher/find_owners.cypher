// Nodes of the user that are marked as the owner of the graph.
// Parameters: user_id.
// Rows: one {nodes}.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.is_owner = true
RETURN collect(«_node») AS nodes
