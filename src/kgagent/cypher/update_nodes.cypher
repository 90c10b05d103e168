// Changes nodes whose version is still the one that was read.
// The write of `write_lock` takes the node's lock before the version is compared; the property is removed again.
// Parameters: user_id; rows [{position, element_id, entity_key, version, properties, vector or null}].
// Rows: position of each that was changed.
UNWIND $rows AS row
MATCH (n:«labels»)
WHERE elementId(n) = row.element_id
«_node_lock»
WITH row, n
WHERE coalesce(n.version, 0) = row.version AND n.entity_key = row.entity_key AND n.user_id = $user_id
SET n += row.properties
WITH n, row
CALL (n, row) {
  WITH n, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector))
}
RETURN row.position AS position
