// Removes what adopting relationships, and embedding them since, has added, and the entries of their statements in the index.
// Parameters: user_id; element_ids; bookkeeping [names of properties].
// Rows: one {written}.
UNWIND $element_ids AS element_id
MATCH ()-[r]->()
WHERE elementId(r) = element_id
WITH r
WHERE r.user_id = $user_id AND r.kgagent_adopted IS NOT NULL
CALL (r) {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record = r.relationship_key
  DELETE entry
}
WITH r, r.kgagent_adopted + $bookkeeping AS names
CALL (r, names) {
  UNWIND names AS name
  SET r[name] = null
}
RETURN count(*) AS written
