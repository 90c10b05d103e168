// Whether `r`, found by an index, may be an answer: both its ends are the user's and have keys, and its vector is of this model, or of an
// unknown one but sound. An index takes vectors whose length no comparison can stand; those that kgagent wrote are none of them.
coalesce(r.embedding_model, $model) = $model
  AND (r.embedding_hash IS NOT NULL OR
    all(x IN r.relationship_embedding WHERE abs(x) <= 1e15) AND any(x IN r.relationship_embedding WHERE abs(x) >= 1e-15))
  AND startNode(r).user_id = $user_id AND endNode(r).user_id = $user_id
  AND startNode(r).entity_key IS :: STRING NOT NULL AND endNode(r).entity_key IS :: STRING NOT NULL
