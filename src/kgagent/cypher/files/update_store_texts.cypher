// Gives texts of items the embedding of the present model; those that were deleted meanwhile are omitted.
// Parameters: user_id (null is every user); model; rows [{element_id, text, hash, vector}].
// Rows: one {updated}.
UNWIND $rows AS row
MATCH (n:«text»)
WHERE elementId(n) = row.element_id AND ($user_id IS NULL OR n.user_id = $user_id)
«_node_lock»
WITH n, row
WHERE n.text = row.text
SET n.embedding_model = $model, n.embedding_hash = row.hash
WITH n, row
CALL (n, row) {
  CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector))
}
RETURN count(n) AS updated
