// Nodes one hop from those of a frontier, following relationships in the direction of their triplets; the most strongly joined first.
// Conditions come after WITH: in the MATCH, the planner would read an index on user_id instead of the few relationships of the node.
// Parameters: user_id; frontier, seen [entity keys]; outgoing, incoming (whether such relationships are followed);
//   relationship_types [text] or null; read_limit (relationships read at a node); newest (whether to sort by date);
//   best_limit (relationships kept of a node); leads (relationships returned with a node); skip, limit.
// Rows: node, relationships [those that lead to it, strongest or newest first].
UNWIND $frontier AS key
MATCH (from:«labels» {entity_key: key})
WHERE from.user_id = $user_id
CALL (from) {
  CALL (from) {
    MATCH (from)-[r:«types»]-(n:«labels»)
    RETURN r, n
    LIMIT $read_limit
  }
  WITH r, n, (startNode(r) = from) <> coalesce(coalesce(r.is_reversed, r.told_in_reverse) = true, false) AS leaves
  WHERE n.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
    AND n.entity_key IS :: STRING NOT NULL AND NOT n.entity_key IN $seen
    AND (leaves AND $outgoing OR NOT leaves AND $incoming)
    AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
  WITH r, n, CASE WHEN $newest THEN coalesce(toString(r.created_at), '') ELSE «_strength» END AS strength
  ORDER BY strength DESC, n.entity_key, r.relationship_key
  LIMIT $best_limit
  RETURN r, n, strength
}
WITH r, n, strength
ORDER BY strength DESC, n.entity_key, r.relationship_key
WITH n, collect(DISTINCT r)[..$leads] AS leading, max(strength) AS strongest
ORDER BY strongest DESC, n.entity_key
SKIP $skip
LIMIT $limit
RETURN «_found_node» AS node, COLLECT { UNWIND leading AS r RETURN «_found_relationship» } AS relationships
