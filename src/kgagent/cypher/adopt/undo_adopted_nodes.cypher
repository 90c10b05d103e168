// Removes what adopting nodes, and embedding them since, has added, and the entries of their statements in the index, with those of
// relationships that tools created at them.
// Parameters: user_id; rows [{element_id, added: names of what kgagent wrote}]; owner (fingerprint of the user_id); bookkeeping [names of properties].
// Rows: one {written}.
UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.element_id
WITH n, row
WHERE n.user_id = $user_id AND n.kgagent_adopted IS NOT NULL OR $owner IN n.kgagent_adopted_hashes
CALL (n) {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id IN [$user_id, n.user_id] AND entry.record = n.entity_key
  DELETE entry
}
CALL (n) {
  MATCH (n)-[r]-()
  WHERE r.statements_hash IS NOT NULL
  REMOVE r.statements_hash
  WITH DISTINCT r.relationship_key AS record
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record = record
  DELETE entry
}
WITH n, row.added + $bookkeeping AS names
CALL (n, names) {
  UNWIND names AS name
  SET n[name] = null
}
RETURN count(*) AS written
