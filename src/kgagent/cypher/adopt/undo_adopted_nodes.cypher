// Removes what adopting nodes, and embedding them since, has added, and the entries of their statements in the index, with those of
// relationships that tools created at them.
// Parameters: user_id; element_ids; bookkeeping [names of properties].
// Rows: one {written}.
UNWIND $element_ids AS element_id
MATCH (n)
WHERE elementId(n) = element_id
WITH n
WHERE n.user_id = $user_id AND n.kgagent_adopted IS NOT NULL
CALL (n) {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record = n.entity_key
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
WITH n, n.kgagent_adopted + $bookkeeping AS names
CALL (n, names) {
  UNWIND names AS name
  SET n[name] = null
}
RETURN count(*) AS written
