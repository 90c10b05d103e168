// The relationships of a node, the strongest first, past ones last, and their number.
// Parameters: user_id; filter; entity_key; read_limit (relationships read); skip, limit.
// Rows: one {count, found [{relationship, other {entity_key, labels}, the node at its other end}]}.
MATCH (from:«labels» {entity_key: $entity_key})
WHERE from.user_id = $user_id
«_steps»
WITH r, n
ORDER BY «_past», «_strength» DESC, r.relationship_key
WITH collect({r: r, n: n}) AS every
RETURN size(every) AS count, COLLECT {
  UNWIND every[$skip..$skip + $limit] AS one
  WITH one.r AS r, one.n AS n
  RETURN {relationship: «_found_relationship», other: {entity_key: n.entity_key, labels: labels(n)}}
} AS found
