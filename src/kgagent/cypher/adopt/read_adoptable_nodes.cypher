// The nodes of an ontology that can be adopted, or that were adopted for the user.
// Parameters: text_limit (characters of a text); those of `_node_conflict.cypher`: user_id, reserved_of_nodes, shared_keys, unique.
// Rows: element_id, labels, fields [[name, value]].
MATCH (n:«labels»)
WHERE (n.user_id IS NULL OR n.user_id = $user_id AND (n.kgagent_adopted IS NOT NULL OR n.entity_key IS NULL))
  AND «_node_conflict» IS NULL
WITH n AS record
RETURN elementId(record) AS element_id, labels(record) AS labels, «_foreign_fields» AS fields
