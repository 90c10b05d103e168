// The relationships of an ontology between nodes of the user that have no key or that were adopted. Of several of one type between
// two nodes, `earlier` counts those before this one; the first one has the key of the two nodes.
// Parameters: user_id; text_limit (characters of a text).
// Rows: element_id, type, from and to {key, name, labels}, earlier, fields [[name, value]].
MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
WHERE a.user_id = $user_id AND b.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  AND a.entity_key IS NOT NULL AND b.entity_key IS NOT NULL AND a <> b
  AND (r.kgagent_adopted IS NOT NULL OR r.relationship_key IS NULL)
WITH a, r, b, r AS record
RETURN elementId(r) AS element_id, type(r) AS type,
  a {key: a.entity_key, .name, labels: labels(a)} AS from, b {key: b.entity_key, .name, labels: labels(b)} AS to,
  COUNT {
    MATCH (a)-[other:«types»]-(b)
    WHERE type(other) = type(r) AND other <> r
      AND (elementId(other) < elementId(r) OR other.relationship_key IS NOT NULL AND NOT other.relationship_key STARTS WITH '#')
  } AS earlier,
  «_foreign_fields» AS fields
