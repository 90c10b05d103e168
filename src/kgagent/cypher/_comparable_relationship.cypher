// Whether the vector of `r` can be compared: of this length, and of this model or of an unknown one but sound.
CASE
  WHEN NOT r.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN false
  WHEN size(r.relationship_embedding) <> $dimensions THEN false
  WHEN r.embedding_model IS NOT NULL THEN r.embedding_model = $model
  ELSE all(x IN r.relationship_embedding WHERE x = x) AND any(x IN r.relationship_embedding WHERE x <> 0.0)
END
