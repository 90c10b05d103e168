// Full records of results: nodes by key and relationships by element id, if they are still the user's.
// Parameters: user_id; keys [text]; element_ids [text].
// Rows: one {nodes, relationships}.
«_found_records»
RETURN nodes, relationships
