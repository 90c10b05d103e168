// The nodes that were adopted for a user, with whatever labels.
// Parameters: user_id; owner (fingerprint of the user_id, which another program may have changed); own_labels (of kgagent's bookkeeping).
// Rows: element_id, fields [[name, value]] of what was added.
MATCH (n)
WHERE (n.user_id = $user_id AND n.kgagent_adopted IS NOT NULL OR $owner IN n.kgagent_adopted_hashes)
  AND NOT any(label IN labels(n) WHERE label IN $own_labels)
RETURN elementId(n) AS element_id,
  [name IN n.kgagent_adopted + ['kgagent_adopted', 'kgagent_adopted_hashes'] WHERE n[name] IS NOT NULL | [name, n[name]]] AS fields
