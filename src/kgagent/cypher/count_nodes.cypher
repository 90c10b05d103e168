// Number of nodes of a label that the user has, counted up to one more than the limit.
// Parameters: user_id; scan_limit.
// Rows: one {found}.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n LIMIT $scan_limit + 1
RETURN count(n) AS found
