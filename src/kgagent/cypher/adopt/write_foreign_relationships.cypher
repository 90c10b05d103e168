// Adds properties to relationships of other programs, changes or removes them; those that have changed since they were read are
// omitted. With a key in `unindexed`, what the index of statements has of the relationship is deleted.
// Parameters: user_id; rows [{element_id, before {name: value as read}, properties {name: value, or null to remove it},
//   unindexed (relationship_key, or null)}].
// Rows: one {written}.
UNWIND $rows AS row
MATCH ()-[r]->()
WHERE elementId(r) = row.element_id
«_relationship_lock»
WITH r, r AS record, row, [$user_id, r.user_id] AS users
WHERE «_is_as_read»
SET r += row.properties
WITH row, users
CALL (row, users) {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id IN users AND entry.record = row.unindexed
  DELETE entry
}
RETURN count(*) AS written
