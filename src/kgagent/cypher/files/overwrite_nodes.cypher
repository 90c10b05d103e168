// Gives nodes the labels and exactly the properties that a file has, and a version that no reader knows.
// Parameters: user_id; rows [{position, element_id, entity_key, labels, properties, times, vectors, stated (see _index_statements)}].
// Rows: position of each that was changed.
UNWIND $rows AS row
MATCH (n:«labels»)
WHERE elementId(n) = row.element_id
«_node_lock»
WITH row, n, n.version AS version
WHERE n.entity_key = row.entity_key AND n.user_id = $user_id
SET n = row.properties, n:$(row.labels)
SET n.version = CASE WHEN coalesce(version, 0) > coalesce(n.version, 0) THEN version ELSE coalesce(n.version, 0) END + 1
WITH n, row
«_imported_node»
WITH collect({row: row, record: n, ends: [n]}) AS written
«_index_statements»
«_rename_statements»
UNWIND [one IN written | one.row] AS row
RETURN row.position AS position
