// Relationships of the ontology's types, of every user or of one.
// Parameters: those of the fragment «which», which chooses relationships: user_id, element_ids, mentioned.
// Rows: one a relationship, see the fragment «row»; or one with their count.
MATCH (a)-[r:«types»]->(b)
WHERE «which»
RETURN «row»
