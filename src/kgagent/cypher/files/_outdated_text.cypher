// Whether a text `n` of an item has no embedding of this model, so that semantic search omits it.
(n.embedding IS NULL OR coalesce(n.embedding_model, '') <> $model OR size(n.embedding) <> $dimensions)
