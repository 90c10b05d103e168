// Whether `n`, found by an index, may be a result: its vector is of this model, or of an unknown model and valid.
// Indexes accept vectors that cannot be compared; kgagent never writes such vectors.
coalesce(n.embedding_model, $model) = $model
  AND (n.embedding_hash IS NOT NULL OR
    all(x IN n.«node_embedding» WHERE abs(x) <= 1e15) AND any(x IN n.«node_embedding» WHERE abs(x) >= 1e-15))
