// How many nodes of the user have no key by which they could be found again.
// Parameters: user_id.
// Rows: one {found}.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND NOT coalesce(n.entity_key > '', false)
RETURN count(n) AS found
