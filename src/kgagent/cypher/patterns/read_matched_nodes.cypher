// The nodes of paths.
// Parameters: user_id; ids [element id].
// Rows: node.
UNWIND $ids AS id
MATCH (n) WHERE elementId(n) = id
WITH n
WHERE n.user_id = $user_id
RETURN «_path_node» AS node
