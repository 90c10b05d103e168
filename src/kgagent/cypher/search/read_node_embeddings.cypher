// Stored embeddings of the user's nodes that can be compared with those of this model.
// Parameters: user_id; keys [text]; dimensions; model.
// Rows: entity_key, embedding.
UNWIND $keys AS key
MATCH (n:«labels» {entity_key: key})
WHERE n.user_id = $user_id
WITH n, n.«node_embedding» AS embedding
WHERE «_comparable_node»
RETURN n.entity_key AS entity_key, embedding
