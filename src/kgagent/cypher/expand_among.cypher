// Relationships between two of the given nodes.
// Parameters: user_id; keys [text]; limit.
// Rows: relationship; strongest first.
UNWIND $keys AS key
MATCH (a:«labels» {entity_key: key})
WHERE a.user_id = $user_id
WITH collect(a) AS members
UNWIND members AS a
UNWIND members AS b
WITH a, b
WHERE elementId(a) < elementId(b)
MATCH (a)-[r:«types»]-(b)
WHERE coalesce(r.user_id, $user_id) = $user_id
WITH DISTINCT r
ORDER BY coalesce(r.attitude, 0) + coalesce(r.proximity, 0) DESC, r.relationship_key
LIMIT $limit
RETURN «_found_relationship» AS relationship
