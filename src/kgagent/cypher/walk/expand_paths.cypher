// Relationships that extend paths at their last node; those that make the best paths first.
// Conditions come after WITH: in the MATCH, the planner would read an index on user_id instead of the few relationships of the node.
// Parameters: user_id; tips [{element_id, total}], total being that of the best path to the node; read_limit (relationships read at a tip);
//   node_limit (kept at a tip); limit; vector or null; dimensions; model.
// Rows: tip, relationship, node [element ids], weight.
UNWIND $tips AS tip
MATCH (from)
WHERE elementId(from) = tip.element_id
CALL (from) {
  CALL (from) {
    MATCH (from)-[r:«types»]-(n:«labels»)
    RETURN r, n
    LIMIT $read_limit
  }
  WITH r, n
  WHERE from.user_id = $user_id AND n.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
    AND n.entity_key IS :: STRING NOT NULL AND n <> from
  WITH r, n, «_path_weight» AS weight
  ORDER BY weight DESC, r.relationship_key
  LIMIT $node_limit
  RETURN r, n, weight
}
WITH tip, r, n, weight
ORDER BY tip.total + weight DESC, r.relationship_key
LIMIT $limit
RETURN tip.element_id AS tip, elementId(r) AS relationship, elementId(n) AS node, weight
