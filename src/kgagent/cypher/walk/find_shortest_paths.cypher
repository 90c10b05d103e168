// The shortest paths between two nodes of the user, in any direction; those with the highest weights first, past ones last.
// Parameters: user_id; filter; first, second (entity keys); max_hops, 1 to 6; read_limit (paths read); limit; vector or null; dimensions;
//   model.
// Rows: nodes, relationships [element ids, in order], weights [of each relationship], past.
MATCH (a:«labels» {entity_key: $first})
WHERE a.user_id = $user_id
MATCH (b:«labels» {entity_key: $second})
WHERE b.user_id = $user_id
MATCH p = allShortestPaths((a)-[:«types»*..6]-(b))
WHERE all(r IN relationships(p) WHERE coalesce(r.user_id, $user_id) = $user_id AND «_valid_relationship»)
  AND all(n IN nodes(p) WHERE n.user_id = $user_id AND n:«labels» AND n.entity_key IS :: STRING NOT NULL)
WITH p
WHERE length(p) <= $max_hops
WITH p
LIMIT $read_limit
WITH p, [r IN relationships(p) | «_path_weight»] AS weights, any(r IN relationships(p) WHERE «_past») AS past
ORDER BY past, reduce(total = 0.0, weight IN weights | total + weight) DESC, [n IN nodes(p) | n.entity_key]
LIMIT $limit
RETURN [n IN nodes(p) | elementId(n)] AS nodes, [r IN relationships(p) | elementId(r)] AS relationships, weights, past
