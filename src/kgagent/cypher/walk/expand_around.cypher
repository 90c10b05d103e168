// The surroundings of nodes: the relationships among them, and their neighbors one hop away.
// Parameters: user_id; filter; around [entity keys]; among_limit; neighbor_limit.
// Rows: one {among [relationship], neighbors [{node, relationships}]}.
«_surroundings»
RETURN among, neighbors
