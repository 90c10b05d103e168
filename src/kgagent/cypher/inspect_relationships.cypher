// Every relationship of the ontology's types.
// Parameters: element_ids if «which» is a choice by ids.
// Rows: one a relationship, see the fragment that the caller chooses.
MATCH (a)-[r:«types»]->(b)
WHERE «which»
RETURN «row»
