// Relationships of nodes of the user, those first that a text names, by a type or by the other node.
// Parameters: user_id; nodes [{key, texts [text], in plain form}], sorted by their keys; limit of a node.
// Rows: key; relationships [see relationship record].
UNWIND $nodes AS wanted
MATCH (n:«labels» {entity_key: wanted.key})
WHERE n.user_id = $user_id
CALL (n, wanted) {
  MATCH (n)-[r:«types»]-(m)
  WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  WITH DISTINCT r, coalesce(head([text IN [toStringOrNull(m.name)] | «_plain_text»]), m.entity_key) AS other,
    coalesce(«_plain_types», '') AS types
  WITH r, any(text IN wanted.texts WHERE text CONTAINS other OR types CONTAINS text) AS is_named
  ORDER BY is_named DESC, r.updated_at DESC
  LIMIT $limit
  «lock»
  WITH r, is_named
  ORDER BY is_named DESC
  RETURN collect(«_relationship») AS relationships
}
RETURN wanted.key AS key, relationships
