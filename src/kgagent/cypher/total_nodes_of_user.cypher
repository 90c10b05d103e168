// How many nodes one user has.
// Parameters: user_id.
// Rows: one {found}.
MATCH (n:«labels»)
WHERE n.user_id = $user_id
RETURN count(n) AS found
