// Embeddings that items have already, so that an unchanged text is not embedded again.
// Parameters: user_id; model; dimensions; places [{path, key}]; hashes (fingerprints of the texts).
// Rows: hash, embedding.
UNWIND $places AS place
MATCH (n:«text» {user_id: $user_id, path: place.path, key: place.key})
WHERE n.embedding_hash IN $hashes
WITH n, n.embedding AS embedding
WHERE «_comparable_node»
RETURN n.embedding_hash AS hash, embedding
