// The relationships that were adopted for a user, of whatever type.
// Parameters: user_id; owner (fingerprint of the user_id, which another program may have changed).
// Rows: element_id, fields [[name, value]] of what was added.
MATCH ()-[r]->()
WHERE (r.user_id = $user_id AND r.kgagent_adopted IS NOT NULL OR $owner IN r.kgagent_adopted_hashes)
RETURN elementId(r) AS element_id,
  [name IN r.kgagent_adopted + ['kgagent_adopted', 'kgagent_adopted_hashes'] WHERE r[name] IS NOT NULL | [name, r[name]]] AS fields
