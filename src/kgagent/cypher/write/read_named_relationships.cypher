// Relationships of nodes of the user, those first that a text names, by a type or by the other node.
// Parameters: user_id; nodes [{key, texts [text], in lower case, with spaces between words}], sorted by their keys; limit of a node.
// Rows: key; relationships [see relationship record].
UNWIND $nodes AS wanted
MATCH (n:«labels» {entity_key: wanted.key})
WHERE n.user_id = $user_id
CALL (n, wanted) {
  MATCH (n)-[r:«types»]-(m)
  WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  WITH DISTINCT r, any(text IN wanted.texts WHERE text CONTAINS coalesce(toLower(m.name), m.entity_key)
    OR replace(replace(toLower(r.relationship_type), '_', ' '), '-', ' ') CONTAINS text) AS is_named
  ORDER BY is_named DESC, r.updated_at DESC
  LIMIT $limit
  «lock»
  WITH r, is_named
  ORDER BY is_named DESC
  RETURN collect(«_relationship») AS relationships
}
RETURN wanted.key AS key, relationships
