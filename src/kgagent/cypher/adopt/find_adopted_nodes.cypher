// The nodes that were adopted for a user, with whatever labels.
// Parameters: user_id.
// Rows: element_id.
MATCH (n)
WHERE n.user_id = $user_id AND n.kgagent_adopted IS NOT NULL
RETURN elementId(n) AS element_id
