// Relationships of some of the user's nodes, compared with a query.
// Parameters: user_id; keys [entity keys]; dimensions; model; relationship_types [text] or null; vector; levels [{type, field, level, bonus}]; threshold (plain cosine);
//   hub_limit (relationships read at each node); limit (of each node).
// Rows: one for each node: entity_key, matches [{similarity (plain cosine), relationship}], best first by similarity and levels.
UNWIND $keys AS key
MATCH (n:«labels» {entity_key: key})
WHERE n.user_id = $user_id
«_nearest_at_node»
RETURN n.entity_key AS entity_key, matches
