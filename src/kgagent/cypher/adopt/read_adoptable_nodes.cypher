// The nodes of an ontology that can be adopted or that were adopted for the user, with what their names and descriptions are made of.
// Parameters: names [names of properties]; those of `_node_conflict.cypher`: user_id, reserved_of_nodes, shared_keys, unique.
// Rows: element_id, labels, fields [[name, value]].
MATCH (n:«labels»)
WHERE (n.user_id IS NULL OR n.user_id = $user_id AND (n.kgagent_adopted IS NOT NULL OR n.entity_key IS NULL))
  AND «_node_conflict» IS NULL
RETURN elementId(n) AS element_id, labels(n) AS labels, [name IN $names WHERE n[name] IS NOT NULL | [name, n[name]]] AS fields
