// The user's nodes that have one of many names; it reads the name of every node of the user.
// Parameters: user_id; folded [text]; most (nodes of each name).
// Rows: folded, nodes.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
WITH n, «_folded_name» AS folded
WHERE folded IN $folded
RETURN folded, collect(«_referenced_node»)[..$most] AS nodes
