// Nodes of the user by their keys.
// Parameters: user_id; keys [text].
// Rows: one {nodes}.
UNWIND $keys AS key
MATCH (n:«labels» {entity_key: key})
WHERE n.user_id = $user_id
«lock»
WITH n
RETURN collect(«_node») AS nodes
