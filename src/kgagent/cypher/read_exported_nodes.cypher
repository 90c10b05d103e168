// Nodes of the user, of any label, as export writes them.
// Parameters: user_id; element_ids; omitted [names of properties].
// Rows: record, see the fragment.
UNWIND $element_ids AS wanted
MATCH (n)
WHERE elementId(n) = wanted AND n.user_id = $user_id
RETURN «_exported_node» AS record
