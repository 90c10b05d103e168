// What kinds of values some relationships of the user hold.
// Parameters: user_id; element_ids; hidden; text_limit; json_limit; texts_limit: as in live_node_values.
// Rows: as in live_node_values.
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids
WITH a, r, b
WHERE «_owned_relationship»
WITH r AS one
«_live_values»
