// Nodes one hop from those of a frontier, following relationships in the direction of their triplets; the most strongly joined first, past
// ones last.
// Parameters: user_id; filter; frontier, seen, past [entity keys; past: those of the frontier that were only reached through past
//   relationships]; outgoing, incoming (whether such relationships are followed);
//   read_limit (relationships read at a node); newest (whether to sort by date);
//   best_limit (relationships kept of a node); leads (relationships returned with a node); skip, limit.
// Rows: node, relationships [those that lead to it, strongest or newest first], past.
UNWIND $frontier AS key
MATCH (from:«labels» {entity_key: key})
WHERE from.user_id = $user_id
CALL (from, key) {
  «_steps»
    AND NOT n.entity_key IN $seen AND «_followed»
  WITH r, n, NOT $newest AND (key IN $past OR «_past») AS past,
    CASE WHEN $newest THEN coalesce(toString(r.created_at), '') ELSE «_strength» END AS strength
  ORDER BY past, strength DESC, n.entity_key, r.relationship_key
  LIMIT $best_limit
  RETURN r, n, past, strength
}
WITH r, n, past, strength
ORDER BY past, strength DESC, n.entity_key, r.relationship_key
WITH n, collect(DISTINCT r)[..$leads] AS leading, min(past) AS past, head(collect(strength)) AS strongest
ORDER BY past, strongest DESC, n.entity_key
SKIP $skip
LIMIT $limit
RETURN «_found_node» AS node, COLLECT { UNWIND leading AS r RETURN «_found_relationship» } AS relationships, past
