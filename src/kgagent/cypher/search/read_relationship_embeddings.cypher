// Stored embeddings of the user's relationships that can be compared with those of this model.
// Parameters: user_id; pairs [{neo4j_type, first, second}], the entity keys in either order; dimensions; model.
// Rows: position (in pairs), embedding; of several relationships of one type between two nodes, the first with a key, or by id.
UNWIND range(0, size($pairs) - 1) AS position
WITH position, $pairs[position] AS pair
MATCH (a:«labels» {entity_key: pair.first})
WHERE a.user_id = $user_id
MATCH (b:«labels» {entity_key: pair.second})
WHERE b.user_id = $user_id
MATCH (a)-[r:«types»]-(b)
WHERE type(r) = pair.neo4j_type AND coalesce(r.user_id, $user_id) = $user_id
WITH position, r, r.relationship_embedding AS embedding
WHERE «_comparable_relationship»
WITH position, embedding
ORDER BY r.relationship_key, elementId(r)
RETURN position, head(collect(embedding)) AS embedding
