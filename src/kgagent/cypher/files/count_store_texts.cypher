// Number of items, and of their texts that semantic search omits because they have no embedding of this model.
// Parameters: user_id (null is every user); model; dimensions.
// Rows: one {items, outdated, other_model (of one of them, or null)}.
CALL () {
  MATCH (i:«item»)
  WHERE $user_id IS NULL OR i.user_id = $user_id
  RETURN count(i) AS items
}
CALL () {
  MATCH (n:«text»)
  WHERE ($user_id IS NULL OR n.user_id = $user_id) AND «_outdated_text»
  RETURN count(n) AS outdated, min(toStringOrNull(n.embedding_model)) AS other_model
}
RETURN items, outdated, other_model
