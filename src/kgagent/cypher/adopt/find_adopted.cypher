// The records that were adopted for a user, with whatever labels and types; relationships first, while their nodes have keys.
// Parameters: user_id; owner (fingerprint of the user_id, which another program may have changed); own_labels (of kgagent's bookkeeping).
// Rows: kind ("nodes" or "relationships"), element_id, fields [[name, value]] of what kgagent wrote.
MATCH ()-[record]->()
WHERE «_is_adopted»
RETURN 'relationships' AS kind, elementId(record) AS element_id, «_adopted_fields» AS fields
UNION ALL
MATCH (record)
WHERE («_is_adopted») AND NOT any(label IN labels(record) WHERE label IN $own_labels)
RETURN 'nodes' AS kind, elementId(record) AS element_id, «_adopted_fields» AS fields
