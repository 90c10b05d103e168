// How many relationships the user has, counted no further than one past the limit.
// Parameters: user_id; scan_limit.
// Rows: one {found}.
MATCH (owned:«labels»)-[r:«types»]->()
WHERE owned.user_id = $user_id AND r.user_id = $user_id
WITH r LIMIT $scan_limit + 1
RETURN count(r) AS found
