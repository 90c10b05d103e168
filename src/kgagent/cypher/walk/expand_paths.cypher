// Relationships that extend paths at their last node; those that make the best paths first, past ones last.
// Parameters: user_id; filter; tips [{element_id, total, past}], those of the best path to the node; read_limit (relationships read at a
//   tip);
//   node_limit (kept at a tip); limit; vector or null; dimensions; model.
// Rows: tip, relationship, node [element ids], weight, past.
UNWIND $tips AS tip
MATCH (from)
WHERE elementId(from) = tip.element_id
CALL (from) {
  «_steps»
    AND from.user_id = $user_id
  WITH r, n, «_path_weight» AS weight, «_past» AS past
  ORDER BY past, weight DESC, r.relationship_key
  LIMIT $node_limit
  RETURN r, n, weight, past
}
WITH tip, r, n, weight, past
ORDER BY tip.past OR past, tip.total + weight DESC, r.relationship_key
LIMIT $limit
RETURN tip.element_id AS tip, elementId(r) AS relationship, elementId(n) AS node, weight, past
