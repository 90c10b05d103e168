// The relationships of nodes of the user that may have one of some free types.
// Parameters: user_id; nodes [{key, types [text], in plain form}], sorted by their keys.
// Rows: key; relationships [see relationship record].
UNWIND $nodes AS wanted
MATCH (n:«labels» {entity_key: wanted.key})
WHERE n.user_id = $user_id
CALL (n, wanted) {
  MATCH (n)-[r:«types»]-(m)
  WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id AND «_has_one_value»
  WITH DISTINCT r
  «lock»
  WITH r
  RETURN collect(«_relationship») AS relationships
}
RETURN wanted.key AS key, relationships
