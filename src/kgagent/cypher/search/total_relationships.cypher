// How many relationships of the ontology's types there are.
// Rows: one {found}.
MATCH ()-[r:«types»]->()
RETURN count(r) AS found
