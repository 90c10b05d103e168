// Embeddings of some of the user's nodes and relationships, to learn what records score that a query is not about.
// Parameters: user_id; dimensions; model; sample (maximum number of each).
// Rows: one {nodes [embedding], relationships [embedding]}.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id
  WITH n, n.embedding AS embedding
  LIMIT $sample
  WHERE «_comparable_node»
  RETURN collect(embedding) AS nodes
}
CALL () {
  MATCH (owned:«labels»)-[r:«types»]->()
  WHERE owned.user_id = $user_id AND r.user_id = $user_id
  WITH r, r.relationship_embedding AS embedding
  LIMIT $sample
  WHERE «_comparable_relationship»
  RETURN collect(embedding) AS relationships
}
RETURN nodes, relationships
