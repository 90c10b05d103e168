// Nodes of the user, of any label, as export writes them.
// Parameters: user_id; element_ids; omitted [names of properties].
// Rows: one {records}, see the fragment; a row for each would cost the driver more than its content.
UNWIND $element_ids AS wanted
MATCH (n)
WHERE elementId(n) = wanted AND n.user_id = $user_id
RETURN collect(«_exported_node») AS records
