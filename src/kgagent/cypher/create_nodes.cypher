// Creates nodes, unless a node of the user and of the label has the key already.
// Parameters: user_id; rows [{position, label, entity_key, properties, vector or null}].
// Rows: position of each that was created.
UNWIND $rows AS row
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
RETURN row.position AS position
