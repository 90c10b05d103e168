// Number of relationships that the user has, counted up to one more than the limit.
// Parameters: user_id; scan_limit.
// Rows: one {label (empty), found, unindexed (how many are not in the index of statements)}.
MATCH (owned:«labels»)-[r:«types»]->()
WHERE owned.user_id = $user_id AND r.user_id = $user_id
WITH r LIMIT $scan_limit + 1
WITH count(r) AS found, count(CASE WHEN r.statements_hash IS NULL THEN true END) AS unindexed
RETURN '' AS label, found, unindexed
