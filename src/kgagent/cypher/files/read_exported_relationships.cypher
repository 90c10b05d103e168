// Relationships between nodes of the user, unless they name another one, as export writes them.
// Parameters: user_id; element_ids; omitted [names of properties].
// Rows: one {records}, see the fragment; a row for each would cost the driver more than its content.
UNWIND $element_ids AS wanted
MATCH (a)-[r]->(b)
WHERE elementId(r) = wanted AND a.user_id = $user_id AND b.user_id = $user_id
  AND coalesce(r.user_id, $user_id) = $user_id
RETURN collect(«_exported_relationship») AS records
