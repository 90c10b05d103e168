// The two nodes of each pair, if they are the user's, and the relationships between them.
// Parameters: user_id; pairs [{first, second}] of entity keys.
// Rows: position, first and second {element_id, labels, name}, null also if another write deleted the node meanwhile;
//   relationships [see relationship record].
UNWIND range(0, size($pairs) - 1) AS position
WITH position, $pairs[position] AS pair
OPTIONAL MATCH (a:«labels» {entity_key: pair.first}) WHERE a.user_id = $user_id
OPTIONAL MATCH (b:«labels» {entity_key: pair.second}) WHERE b.user_id = $user_id
CALL (a, b) {
  WITH a, b
  WHERE a IS NOT NULL AND b IS NOT NULL
  MATCH (a)-[r:«types»]-(b)
  WITH DISTINCT r
  «lock»
  WITH r
  RETURN collect(«_relationship») AS relationships
}
RETURN position,
  CASE WHEN size(labels(a)) > 0 THEN {element_id: elementId(a), labels: labels(a), name: a.name} END AS first,
  CASE WHEN size(labels(b)) > 0 THEN {element_id: elementId(b), labels: labels(b), name: b.name} END AS second,
  relationships
