// Deletes some relationships of some nodes of a user, or of one node; if it deletes less than the limit, then also these nodes.
// Nothing is kept of them.
// Parameters: user_id; entity_key (null is every node); limit.
// Rows: one {nodes, relationships}, how many were deleted.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id AND ($entity_key IS NULL OR n.entity_key = $entity_key)
  WITH n
  LIMIT $limit
  RETURN collect(n) AS batch
}
CALL (batch) {
  UNWIND batch AS n
  MATCH (n)-[r]-()
  WITH DISTINCT r
  LIMIT $limit
  WITH r, r.relationship_key AS record
  DELETE r
  RETURN count(r) AS relationships, collect(record) AS records
}
CALL (batch, records) {
  UNWIND [n IN batch | n.entity_key] + records AS record
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record = record
  DELETE entry
}
CALL (batch, relationships) {
  UNWIND batch AS n
  WITH n
  WHERE relationships < $limit
  DETACH DELETE n
  RETURN count(*) AS nodes
}
RETURN nodes, relationships
