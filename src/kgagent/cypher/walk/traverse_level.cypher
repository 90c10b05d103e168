// Nodes one hop from those of a frontier, following relationships in the direction of their triplets; the most strongly joined first.
// Parameters: user_id; frontier, seen [entity keys]; outgoing, incoming (whether such relationships are followed);
//   relationship_types [text] or null; read_limit (relationships read at a node); newest (whether to sort by date);
//   best_limit (relationships kept of a node); leads (relationships returned with a node); skip, limit.
// Rows: node, relationships [those that lead to it, strongest or newest first].
UNWIND $frontier AS key
MATCH (from:«labels» {entity_key: key})
WHERE from.user_id = $user_id
CALL (from) {
  «_steps»
    AND NOT n.entity_key IN $seen AND «_followed»
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
