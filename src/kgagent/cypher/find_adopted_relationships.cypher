// The relationships that were adopted for a user.
// Parameters: user_id.
// Rows: element_id.
MATCH (a:«labels»)-[r:«types»]->()
WHERE a.user_id = $user_id AND r.kgagent_adopted IS NOT NULL
RETURN elementId(r) AS element_id
