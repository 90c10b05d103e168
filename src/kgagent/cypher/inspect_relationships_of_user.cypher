// Every relationship that starts at a node of one user.
// Parameters: user_id; element_ids if «which» is a choice by ids.
// Rows: one a relationship, see the fragment that the caller chooses.
MATCH (a:«labels»)-[r:«types»]->(b)
WHERE a.user_id = $user_id AND «which»
RETURN «row»
