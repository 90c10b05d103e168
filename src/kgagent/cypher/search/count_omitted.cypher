// How many of a user's records have an embedding of another model, so that semantic search omits them.
// Parameters: user_id; model; examined (maximum number of records of each kind).
// Rows: one {omitted_nodes, omitted_relationships, other_model (of one of them, or null), is_partial (whether there may be more
//   records than were examined)}.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id
  WITH n LIMIT $examined
  RETURN collect(n.embedding_model) AS models, count(n) AS nodes
}
CALL () {
  MATCH (owned:«labels»)-[r:«types»]->()
  WHERE owned.user_id = $user_id AND r.user_id = $user_id
  WITH r LIMIT $examined
  RETURN collect(r.embedding_model) AS models_of_relationships, count(r) AS relationships
}
WITH [model IN models WHERE model <> $model] AS of_nodes, [model IN models_of_relationships WHERE model <> $model] AS of_relationships,
  $examined IN [nodes, relationships] AS is_partial
RETURN size(of_nodes) AS omitted_nodes, size(of_relationships) AS omitted_relationships,
  toStringOrNull(head(of_nodes + of_relationships)) AS other_model, is_partial
