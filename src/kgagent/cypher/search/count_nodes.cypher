// Number of nodes of a label that the user has, counted up to one more than the limit.
// Parameters: user_id; scan_limit.
// Rows: one {label, found, unindexed (how many are not in the index of statements)}.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n LIMIT $scan_limit + 1
WITH count(n) AS found, count(CASE WHEN n.statements_hash IS NULL THEN true END) AS unindexed
RETURN head(keys({«label»: null})) AS label, found, unindexed
