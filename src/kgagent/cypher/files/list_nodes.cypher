// The next nodes of the user and of a label, in the order of their keys.
// Parameters: user_id; after, the key before the first; limit.
// Rows: element_id, entity_key, labels, outgoing (number of relationships that start at it).
MATCH (n:«label»)
WHERE n.user_id = $user_id AND n.entity_key > $after
WITH n, n.entity_key AS entity_key
ORDER BY entity_key
LIMIT $limit
RETURN elementId(n) AS element_id, entity_key, labels(n) AS labels, COUNT { (n)-->() } AS outgoing
