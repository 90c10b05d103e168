// Creates nodes of a file, unless a node of the user and of the label has the key already.
// Parameters: user_id; rows [{position, label, labels, entity_key, properties, times [{name, kind, value}],
//   vectors [{name, value}], stated (see _index_statements)}].
// Rows: position of each that was created.
UNWIND $rows AS row
OPTIONAL MATCH (existing:«labels» {entity_key: row.entity_key})
WHERE existing.user_id = $user_id AND row.label IN labels(existing)
WITH row, existing
WHERE existing IS NULL
CREATE (n:$(row.labels))
SET n = row.properties
WITH n, row
«_imported_node»
WITH collect({row: row, record: n, ends: [n]}) AS written
«_index_statements»
UNWIND [one IN written | one.row] AS row
RETURN row.position AS position
