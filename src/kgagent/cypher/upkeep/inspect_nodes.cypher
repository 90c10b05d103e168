// Nodes of the ontology's labels, of every user or of one.
// Parameters: those of the fragment «which», which chooses nodes: user_id, element_ids, mentioned.
// Rows: one a node, see the fragment «row»; or one with their count.
MATCH (n:«labels»)
WHERE «which»
RETURN «row»
