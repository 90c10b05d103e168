// Embeddings of some of the user's statements, to learn what they score that a query is not about; and how many
// of those examined have an embedding of another model, which semantic search omits.
// Parameters: user_id; dimensions; model; sample (maximum number of embeddings); examined (maximum number of records of each).
// Rows: one {statements [embedding], omitted_nodes, omitted_relationships, other_model (of one of them, or
//   null), is_partial (whether there may be more records than were examined)}.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id
  WITH n LIMIT $examined
  RETURN collect(n) AS all_nodes
}
CALL () {
  MATCH (owned:«labels»)-[r:«types»]->()
  WHERE owned.user_id = $user_id AND r.user_id = $user_id
  WITH r LIMIT $examined
  RETURN collect(r) AS all_relationships
}
CALL () {
  MATCH (n:KgagentStatement)
  WHERE n.user_id = $user_id
  WITH n, n.embedding AS embedding
  WHERE «_comparable_node»
  WITH embedding LIMIT $sample
  RETURN collect(embedding) AS statements
}
WITH statements, $examined IN [size(all_nodes), size(all_relationships)] AS is_partial,
  [n IN all_nodes WHERE n.embedding_model <> $model | n.embedding_model] AS models_of_nodes,
  [r IN all_relationships WHERE r.embedding_model <> $model | r.embedding_model] AS models_of_relationships
RETURN statements, size(models_of_nodes) AS omitted_nodes, size(models_of_relationships) AS omitted_relationships,
  toStringOrNull(head(models_of_nodes + models_of_relationships)) AS other_model, is_partial
