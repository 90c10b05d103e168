// What explore returns beside its matches: full records, and the surroundings of nodes: the relationships among them and their neighbors.
// Parameters: user_id; dimensions; model; filter; vectors; statement_limit; keys [entity keys of nodes to read]; element_ids [of relationships to read]; around [entity keys]; among_limit;
//   neighbor_limit.
// Rows: one {nodes, relationships, among [relationship], neighbors [{node, relationships}]}.
«_found_records»
«_surroundings»
RETURN nodes, relationships, among, neighbors
