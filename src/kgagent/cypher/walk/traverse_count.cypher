// Number of nodes one hop from a node, under the conditions of traverse_level.
// Parameters: user_id; entity_key; outgoing, incoming; relationship_types [text] or null; read_limit.
// Rows: count.
MATCH (from:«labels» {entity_key: $entity_key})
WHERE from.user_id = $user_id
CALL (from) {
  MATCH (from)-[r:«types»]-(n:«labels»)
  RETURN r, n
  LIMIT $read_limit
}
WITH from, r, n, (startNode(r) = from) <> coalesce(coalesce(r.is_reversed, r.told_in_reverse) = true, false) AS leaves
WHERE n.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  AND n.entity_key IS :: STRING NOT NULL AND n.entity_key <> $entity_key
  AND (leaves AND $outgoing OR NOT leaves AND $incoming)
  AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
RETURN count(DISTINCT n) AS count
