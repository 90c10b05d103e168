// Relationships of the node that is marked as the owner of the user's graph, compared with a query.
// Parameters: user_id; dimensions; model; relationship_types [text] or null; vector; levels [{type, field, level, bonus}]; threshold (plain cosine); hub_limit (relationships
//   read); limit.
// Rows: one for each owner: entity_key, matches [{similarity (plain cosine), relationship}], best first by similarity and levels.
MATCH (n:«owner»)
WHERE n.user_id = $user_id AND n.is_owner = true AND n.entity_key IS :: STRING NOT NULL
«_nearest_at_node»
RETURN n.entity_key AS entity_key, matches
