// Every node of one user.
// Parameters: user_id.
// Rows: one a node, see the fragment.
MATCH (n:«labels»)
WHERE n.user_id = $user_id
RETURN «_inspected_node»
