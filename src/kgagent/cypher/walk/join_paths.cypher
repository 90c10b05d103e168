// Relationships that join the last node of a path from one side with that of a path from the other; those that make the best paths first.
// Parameters: user_id; first, second [{element_id, total}], total being that of the best path to the node; limit; vector or null; dimensions; model.
// Rows: first, relationship, second [element ids], weight.
UNWIND $first AS tip
MATCH (a)
WHERE elementId(a) = tip.element_id
WITH collect([a, tip.total]) AS firsts
UNWIND $second AS tip
MATCH (b)
WHERE elementId(b) = tip.element_id
WITH firsts, collect([b, tip.total]) AS seconds
UNWIND firsts AS one
UNWIND seconds AS other
WITH one[0] AS a, other[0] AS b, one[1] + other[1] AS total
WHERE a <> b AND a.user_id = $user_id AND b.user_id = $user_id
MATCH (a)-[r:«types»]-(b)
WITH a, r, b, total
WHERE coalesce(r.user_id, $user_id) = $user_id
WITH a, r, b, total, «_path_weight» AS weight
ORDER BY total + weight DESC, r.relationship_key
LIMIT $limit
RETURN elementId(a) AS first, elementId(r) AS relationship, elementId(b) AS second, weight
