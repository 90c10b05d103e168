// Full records of results: nodes by key and relationships by element id, if they are still the user's.
// Parameters: user_id; dimensions; model; filter; keys [text]; element_ids [text]; vectors; statement_limit.
// Rows: one {nodes, relationships}, see `_found_records`.
«_found_records»
RETURN nodes, relationships
