// Relationships between nodes of the user with a text in their stored notes.
// Parameters: user_id; text; limit.
// Rows: relationship.
MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
WHERE a.user_id = $user_id AND b.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id AND r.notes CONTAINS $text
WITH r
LIMIT $limit
«_relationship_lock»
WITH r
RETURN «_relationship» AS relationship
