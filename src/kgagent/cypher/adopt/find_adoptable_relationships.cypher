// How many relationships between nodes without another owner have which type, between which labels, and which of their properties
// kgagent would use for something else. Relationships that kgagent wrote, or adopted, have no such properties.
// Parameters: user_id; reserved [names of properties].
// Rows: type, starts [labels], ends [labels], is_loop (whether they start and end at one node), conflicts [names], count.
MATCH (a)-[r]->(b)
WHERE coalesce(a.user_id, $user_id) = $user_id AND coalesce(b.user_id, $user_id) = $user_id
WITH type(r) AS type, labels(a) AS starts, labels(b) AS ends, a = b AS is_loop,
  CASE WHEN r.user_id = $user_id AND (r.kgagent_adopted IS NOT NULL OR r.relationship_key IS :: STRING NOT NULL) THEN []
  ELSE [name IN $reserved WHERE r[name] IS NOT NULL]
    + CASE WHEN coalesce(r.user_id = $user_id, r.user_id IS NULL) THEN [] ELSE ['user_id'] END
    + CASE WHEN r.relationship_type IS :: STRING THEN [] ELSE ['relationship_type'] END
    + [name IN ['attitude', 'proximity'] WHERE NOT r[name] IS :: INTEGER OR NOT coalesce(1 <= r[name] <= 5, true)]
  END AS conflicts
RETURN type, starts, ends, is_loop, conflicts, count(*) AS count
