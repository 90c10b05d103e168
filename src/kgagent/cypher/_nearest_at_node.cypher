// The relationships of the node `n` that are nearest to a query: matches [{similarity (plain cosine), relationship}],
// best first by their similarity with what their attitude or proximity adds if the query says it.
CALL (n) {
  MATCH (n)-[r:«types»]-(other)
  WITH r, other
  WHERE coalesce(r.user_id, $user_id) = $user_id AND other.user_id = $user_id AND other.entity_key IS :: STRING NOT NULL
    AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
  WITH DISTINCT r
  LIMIT $hub_limit
  WITH r, r.relationship_embedding AS embedding
  WHERE «_comparable_relationship»
  WITH r, 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 AS similarity
  WHERE similarity >= $threshold
  WITH r, similarity, similarity +
    coalesce(head([said IN $levels WHERE type(r) = said.type AND r[said.field] = said.level | said.bonus]), 0.0) AS score
  ORDER BY score DESC, r.relationship_key
  LIMIT $limit
  RETURN collect({similarity: similarity, relationship: «relationship»}) AS matches
}
