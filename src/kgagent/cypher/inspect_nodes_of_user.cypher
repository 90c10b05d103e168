// Every node of one user.
// Parameters: user_id; element_ids if «which» is a choice by ids.
// Rows: one a node, see the fragment that the caller chooses.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND «which»
RETURN «row»
