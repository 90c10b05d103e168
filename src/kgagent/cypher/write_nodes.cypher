// Creates nodes, unless a node of the user and of the label has the key already, and changes nodes whose version is still the
// one that was read.
// The write of `write_lock` takes the node's lock before the version is compared; the property is removed again.
// Parameters: user_id; created [{position, label, entity_key, properties, vector or null}]; updated [{position, element_id,
//   entity_key, version, properties, vector or null}].
// Rows: position, element_id; of each that was written.
CALL () {
  UNWIND $created AS row
  OPTIONAL MATCH (existing:«labels» {entity_key: row.entity_key})
  WHERE existing.user_id = $user_id AND row.label IN labels(existing)
  WITH row, existing
  WHERE existing IS NULL
  CREATE (n:$(row.label))
  SET n = row.properties
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector))
  }
  RETURN row.position AS position, elementId(n) AS element_id
UNION ALL
  UNWIND $updated AS row
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
  RETURN row.position AS position, elementId(n) AS element_id
}
RETURN position, element_id
