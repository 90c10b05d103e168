// The relationships `r` of a node `from` that the filter keeps, with the user's nodes `n` at their other ends; at most $read_limit are
// read. Of more, the
// database returns some, the same ones until the graph around the node changes.
// Conditions come after WITH: in the MATCH, the planner would read an index on user_id instead of the few relationships of the node.
CALL (from) {
  MATCH (from)-[r:«types»]-(n:«labels»)
  RETURN r, n
  LIMIT $read_limit
}
WITH from, r, n
WHERE n.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  AND n.entity_key IS :: STRING NOT NULL AND n <> from AND «_valid_relationship»
