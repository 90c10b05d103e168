// Whether `r`, found by an index, may be a result: both ends are the user's and have keys, and its vector is of this model, or of an
// unknown model and valid. Indexes accept vectors that cannot be compared; kgagent never writes such vectors.
coalesce(r.embedding_model, $model) = $model
  AND (r.embedding_hash IS NOT NULL OR
    all(x IN r.relationship_embedding WHERE abs(x) <= 1e15) AND any(x IN r.relationship_embedding WHERE abs(x) >= 1e-15))
  AND startNode(r).user_id = $user_id AND endNode(r).user_id = $user_id
  AND startNode(r).entity_key IS :: STRING NOT NULL AND endNode(r).entity_key IS :: STRING NOT NULL
