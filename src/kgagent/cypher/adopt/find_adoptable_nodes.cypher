// How many nodes without another owner have which labels, and which of their properties kgagent would use for something else.
// Nodes that kgagent wrote, or adopted, have no such properties.
// Parameters: user_id; own_labels (of kgagent's bookkeeping); reserved [names of properties].
// Rows: labels, conflicts [names of properties], count.
MATCH (n)
WHERE NOT any(label IN labels(n) WHERE label IN $own_labels)
WITH n, labels(n) AS labels, n.user_id IS :: STRING NOT NULL AND n.entity_key IS :: STRING NOT NULL AS is_known
WHERE NOT is_known OR n.user_id = $user_id
WITH labels, CASE WHEN is_known THEN [] ELSE [name IN $reserved WHERE n[name] IS NOT NULL]
    + CASE WHEN coalesce(n.user_id = $user_id, n.user_id IS NULL) THEN [] ELSE ['user_id'] END
    + [name IN ['entity_key', 'name'] WHERE n[name] IS NOT NULL AND NOT n[name] IS :: STRING NOT NULL]
  END AS conflicts
RETURN labels, conflicts, count(*) AS count
