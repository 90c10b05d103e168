// Nodes of the user with a text in their stored notes.
// Parameters: user_id; text; limit.
// Rows: node.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.notes CONTAINS $text
WITH n
LIMIT $limit
«_node_lock»
WITH n
RETURN «_node» AS node
