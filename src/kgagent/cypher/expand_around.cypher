// Neighbors one hop from the given nodes; those that are joined to most of them first. At each node at most `limit` relationships are read.
// Parameters: user_id; keys [text]; limit.
// Rows: node, relationships [those that join it to the given nodes].
UNWIND $keys AS key
MATCH (a:«labels» {entity_key: key})
WHERE a.user_id = $user_id
WITH collect(a) AS members
UNWIND members AS a
CALL (a, members) {
  MATCH (a)-[r:«types»]-(n:«labels»)
  WHERE n.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id AND NOT n IN members
  RETURN n, r
  LIMIT $limit
}
WITH n, collect(DISTINCT r) AS touching
ORDER BY size(touching) DESC, n.entity_key
LIMIT $limit
RETURN «_found_node» AS node, COLLECT { UNWIND touching AS r RETURN «_found_relationship» } AS relationships
