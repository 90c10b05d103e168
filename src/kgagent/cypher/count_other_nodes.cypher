// How many nodes name the user although kgagent does not manage their labels.
// Parameters: user_id.
// Rows: one {found}.
MATCH (n)
WHERE n.user_id = $user_id AND NOT n:«labels» AND NOT n:«all_deleted» AND NOT n:«item» AND NOT n:«text»
RETURN count(n) AS found
