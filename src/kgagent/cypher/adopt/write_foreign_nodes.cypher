// Adds properties to nodes of other programs, changes or removes them; nodes that have changed since they were read are omitted.
// With a key in `unindexed`, what the index of statements has of the node and its relationships is deleted.
// Parameters: user_id; rows [{element_id, before {name: value as read}, properties {name: value, or null to remove it},
//   unindexed (entity_key, or null)}].
// Rows: one {written}.
UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.element_id
«_node_lock»
WITH n, n AS record, row, [$user_id, n.user_id] AS users
WHERE «_is_as_read»
SET n += row.properties
WITH n, row, users
CALL (n, row, users) {
  WITH n, row, users
  WHERE row.unindexed IS NOT NULL
  OPTIONAL MATCH (n)-[r]-()
  WHERE r.user_id = $user_id
  REMOVE r.statements_hash
  WITH row, users, collect(DISTINCT r.relationship_key) AS keys
  UNWIND keys + [row.unindexed] AS record
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id IN users AND entry.record = record
  DELETE entry
}
RETURN count(*) AS written
