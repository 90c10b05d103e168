// Number of nodes one hop from a node, under the conditions of traverse_level.
// Parameters: user_id; filter; entity_key; outgoing, incoming; read_limit.
// Rows: count.
MATCH (from:«labels» {entity_key: $entity_key})
WHERE from.user_id = $user_id
«_steps»
  AND «_followed»
RETURN count(DISTINCT n) AS count
