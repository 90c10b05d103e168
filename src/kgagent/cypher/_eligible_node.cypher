// Whether `n`, found by an index, may be an answer: its vector is of this model, or of an unknown one but sound.
// An index takes vectors whose length no comparison can stand; those that kgagent wrote are none of them.
coalesce(n.embedding_model, $model) = $model
  AND (n.embedding_hash IS NOT NULL OR
    all(x IN n.embedding WHERE abs(x) <= 1e15) AND any(x IN n.embedding WHERE abs(x) >= 1e-15))
