// Creates what is kept of deleted records of a file.
// Parameters: user_id (of the properties); rows [{position, labels, properties, times, vectors}], as for nodes.
// Rows: position of each.
UNWIND $rows AS row
WITH row
WHERE row.properties.user_id = $user_id
CREATE (n:$(row.labels))
SET n = row.properties
WITH n, row
«_imported_node»
RETURN row.position AS position
