// How many nodes without another owner have which labels, and why they cannot be adopted.
// Parameters: own_labels (of kgagent's bookkeeping); those of `_node_conflict.cypher`: user_id, reserved_of_nodes, shared_keys, unique.
// Rows: labels, conflict ([reason, name of a property], or null), is_alone (without relationships), count.
MATCH (n)
WHERE NOT any(label IN labels(n) WHERE label IN $own_labels)
  AND (n.user_id = $user_id OR NOT (n.user_id IS :: STRING NOT NULL AND n.entity_key IS :: STRING NOT NULL))
RETURN labels(n) AS labels, «_node_conflict» AS conflict, NOT EXISTS { (n)--() } AS is_alone, count(*) AS count
