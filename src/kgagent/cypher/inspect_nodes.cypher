// Every node of the ontology's labels.
// Parameters: element_ids if «which» is a choice by ids.
// Rows: one a node, see the fragment that the caller chooses.
MATCH (n:«labels»)
WHERE «which»
RETURN «row»
