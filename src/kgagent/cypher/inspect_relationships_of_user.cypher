// Every relationship that starts at a node of one user.
// Parameters: user_id.
// Rows: one a relationship, see the fragment.
MATCH (a:«labels»)-[r:«types»]->(b)
WHERE a.user_id = $user_id
RETURN «_inspected_relationship»
