// Whether the vector of `n` can be compared: of this length, and of this model or of an unknown one but sound.
CASE
  WHEN NOT n.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN false
  WHEN size(n.embedding) <> $dimensions THEN false
  WHEN n.embedding_model IS NOT NULL THEN n.embedding_model = $model
  ELSE all(x IN n.embedding WHERE x = x) AND any(x IN n.embedding WHERE x <> 0.0)
END
