// How many relationships start at a node of one user.
// Parameters: user_id.
// Rows: one {found}.
MATCH (a:«labels»)-[r:«types»]->()
WHERE a.user_id = $user_id
RETURN count(r) AS found
