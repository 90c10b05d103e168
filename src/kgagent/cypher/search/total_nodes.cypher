// How many nodes of the ontology's labels there are.
// Rows: one {found}.
MATCH (n:«labels»)
RETURN count(n) AS found
