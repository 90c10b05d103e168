// How many nodes of a label the user has, counted no further than one past the limit.
// Parameters: user_id; scan_limit.
// Rows: one {found}.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n LIMIT $scan_limit + 1
RETURN count(n) AS found
