// The two nodes of each pair, if they are the user's, and the relationships between them.
// A search by key in a writing statement locks the key's place in the index of each label. As keys and pairs are sorted, writers
// of the same records wait for each other, but do not deadlock.
// Parameters: user_id; keys [text], sorted; pairs [{position, first, second}], sorted by the places of their keys.
// Rows: position, first and second {element_id, labels, name}, null also if another write deleted the node meanwhile;
//   relationships [see relationship record].
UNWIND range(0, size($keys) - 1) AS place
OPTIONAL MATCH (n:«labels» {entity_key: $keys[place]}) WHERE n.user_id = $user_id
WITH place, head(collect(n)) AS node
ORDER BY place
WITH collect([node]) AS nodes
UNWIND $pairs AS pair
WITH pair.position AS position, nodes[pair.first][0] AS a, nodes[pair.second][0] AS b
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
