// Number of statements that the user has, counted up to one more than the limit.
// Parameters: user_id; scan_limit.
// Rows: one {label, found, unindexed (0)}.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n LIMIT $scan_limit + 1
WITH count(n) AS found
RETURN head(keys({«label»: null})) AS label, found, 0 AS unindexed
