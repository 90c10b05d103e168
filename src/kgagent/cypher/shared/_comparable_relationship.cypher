// Whether `embedding`, the vector of `r`, can be compared: it has the right length, and either kgagent wrote it with this model,
// or it is of no other model and valid, because the comparison fails on a vector whose length is not a positive number.
CASE
  WHEN NOT (embedding IS :: LIST<FLOAT NOT NULL> NOT NULL OR embedding IS :: LIST<INTEGER NOT NULL> NOT NULL) THEN false
  WHEN size(embedding) <> $dimensions THEN false
  WHEN r.embedding_model <> $model THEN false
  WHEN r.embedding_model = $model AND r.embedding_hash IS NOT NULL THEN true
  ELSE all(x IN embedding WHERE abs(x) <= 1e15) AND any(x IN embedding WHERE abs(x) >= 1e-15)
END
