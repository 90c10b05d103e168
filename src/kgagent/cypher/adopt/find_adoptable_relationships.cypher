// How many relationships between nodes without another owner have which type, between which labels, and why they cannot be adopted.
// Parameters: reserved_of_relationships [names]; those of `_node_conflict.cypher`: user_id, reserved_of_nodes, shared_keys, unique.
// Rows: type, starts [labels], ends [labels], conflict ([reason, name of a property], or null), count.
MATCH (a)-[r]->(b)
WHERE coalesce(a.user_id, $user_id) = $user_id AND coalesce(b.user_id, $user_id) = $user_id
RETURN type(r) AS type, labels(a) AS starts, labels(b) AS ends, CASE
    WHEN any(n IN [a, b] WHERE «_node_conflict» IS NOT NULL) THEN ['outside', '']
    WHEN a = b THEN ['loop', '']
    WHEN r.user_id = $user_id AND (r.kgagent_adopted IS NOT NULL OR r.relationship_key IS :: STRING NOT NULL) THEN null
    ELSE head([name IN $reserved_of_relationships WHERE r[name] IS NOT NULL | ['needed', name]]
      + [name IN ['user_id'] WHERE coalesce(r.user_id, $user_id) <> $user_id | ['needed', name]]
      + [name IN ['relationship_type'] WHERE NOT r[name] IS :: STRING | ['needed', name]]
      + [name IN ['attitude', 'proximity'] WHERE NOT r[name] IS :: INTEGER OR NOT coalesce(1 <= r[name] <= 5, true) | ['needed', name]]
      + [one IN $unique WHERE one[0] = type(r) AND r[one[1]] IS NULL | ['unique', one[1]]])
  END AS conflict, count(*) AS count
