// Removes what adopting relationships, and embedding them since, has added, and the entries of their statements in the index.
// Parameters: user_id; rows [{element_id, added: names of what kgagent wrote}]; owner (fingerprint of the user_id); bookkeeping [names of properties].
// Rows: one {written}.
UNWIND $rows AS row
MATCH ()-[r]->()
WHERE elementId(r) = row.element_id
WITH r, row
WHERE r.user_id = $user_id AND r.kgagent_adopted IS NOT NULL OR $owner IN r.kgagent_adopted_hashes
CALL (r) {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id IN [$user_id, r.user_id] AND entry.record = r.relationship_key
  DELETE entry
}
WITH r, row.added + $bookkeeping AS names
CALL (r, names) {
  UNWIND names AS name
  SET r[name] = null
}
RETURN count(*) AS written
