// Compares each of the user's relationships with each query.
// Parameters: user_id; dimensions; model; relationship_types [text] or null; limit; queries [{position, vector, threshold}].
// Rows: query, similarity (plain cosine), relationship; best first within each query.
MATCH (owned:«labels»)-[r:«types»]->()
WHERE owned.user_id = $user_id AND r.user_id = $user_id
  AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
WITH r, «_comparable_relationship» AS comparable
WHERE comparable
WITH collect(DISTINCT r) AS candidates
UNWIND $queries AS query
CALL (candidates, query) {
  UNWIND candidates AS r
  WITH r, 2.0 * vector.similarity.cosine(r.relationship_embedding, query.vector) - 1.0 AS similarity
  WHERE similarity >= query.threshold
  RETURN r, similarity
  ORDER BY similarity DESC, r.relationship_key
  LIMIT $limit
}
RETURN query.position AS query, similarity, «_relationship» AS relationship
ORDER BY query, similarity DESC, r.relationship_key
