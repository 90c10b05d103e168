// Every relationship of the ontology's types.
// Rows: one a relationship, see the fragment.
MATCH (a)-[r:«types»]->(b)
RETURN «_inspected_relationship»
