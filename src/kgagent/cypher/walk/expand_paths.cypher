// Relationships that extend paths at their last node; those that make the best paths first.
// Parameters: user_id; tips [{element_id, total}], total being that of the best path to the node; read_limit (relationships read at a tip);
//   node_limit (kept at a tip); limit; vector or null; dimensions; model.
// Rows: tip, relationship, node [element ids], weight.
UNWIND $tips AS tip
MATCH (from)
WHERE elementId(from) = tip.element_id
CALL (from) {
  «_steps»
    AND from.user_id = $user_id
  WITH r, n, «_path_weight» AS weight
  ORDER BY weight DESC, r.relationship_key
  LIMIT $node_limit
  RETURN r, n, weight
}
WITH tip, r, n, weight
ORDER BY tip.total + weight DESC, r.relationship_key
LIMIT $limit
RETURN tip.element_id AS tip, elementId(r) AS relationship, elementId(n) AS node, weight
