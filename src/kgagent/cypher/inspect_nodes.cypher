// Every node of the ontology's labels.
// Rows: one a node, see the fragment.
MATCH (n:«labels»)
RETURN «_inspected_node»
