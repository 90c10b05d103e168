// Relationships that join the last node of a path from one side with that of a path from the other; those that make the best paths first,
// past ones last.
// Parameters: user_id; filter; first, second [{element_id, total, past}], those of the best path to the node; limit; vector or null;
//   dimensions; model.
// Rows: first, relationship, second [element ids], weight, past.
UNWIND $first AS tip
MATCH (a)
WHERE elementId(a) = tip.element_id
WITH collect([a, tip]) AS firsts
UNWIND $second AS tip
MATCH (b)
WHERE elementId(b) = tip.element_id
WITH firsts, collect([b, tip]) AS seconds
UNWIND firsts AS one
UNWIND seconds AS other
WITH one[0] AS a, other[0] AS b, one[1].total + other[1].total AS total, one[1].past OR other[1].past AS known_past
WHERE a <> b AND a.user_id = $user_id AND b.user_id = $user_id
MATCH (a)-[r:«types»]-(b)
WITH a, r, b, total, known_past
WHERE coalesce(r.user_id, $user_id) = $user_id AND «_valid_relationship»
WITH a, r, b, total, known_past, «_path_weight» AS weight, «_past» AS past
ORDER BY known_past OR past, total + weight DESC, r.relationship_key
LIMIT $limit
RETURN elementId(a) AS first, elementId(r) AS relationship, elementId(b) AS second, weight, past
