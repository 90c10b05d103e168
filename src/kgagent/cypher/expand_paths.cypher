// Relationships that lead on from the tips of paths, those first that make the best paths.
// What a step must be stands after WITH: in the MATCH, an index on user_id would be read instead of the few at the node.
// Parameters: user_id; tips [{element_id, total}], total that of the best path to it; read_limit (relationships read at a tip);
//   node_limit (kept of a tip); limit; vector or null; dimensions; model.
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
