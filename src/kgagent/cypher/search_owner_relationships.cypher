// Relationships of the node that is marked as the owner of the user's graph, compared with a query.
// Parameters: user_id; dimensions; model; relationship_types [text] or null; vector; threshold (plain cosine); hub_limit (relationships
//   read); limit.
// Rows: one for each owner: owner (entity key), matches [{similarity (plain cosine), relationship}], best first.
MATCH (n:«owner»)
WHERE n.user_id = $user_id AND n.is_owner = true AND n.entity_key IS :: STRING NOT NULL
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
  WITH r, similarity
  ORDER BY similarity DESC, r.relationship_key
  LIMIT $limit
  RETURN collect({similarity: similarity, relationship: «relationship»}) AS matches
}
RETURN n.entity_key AS owner, matches
