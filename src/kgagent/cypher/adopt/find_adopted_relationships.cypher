// The relationships that were adopted for a user, of whatever type.
// Parameters: user_id.
// Rows: element_id.
MATCH ()-[r]->()
WHERE r.user_id = $user_id AND r.kgagent_adopted IS NOT NULL
RETURN elementId(r) AS element_id
