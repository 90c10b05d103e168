// Some nodes of the user.
// Parameters: user_id; limit.
// Rows: element_id; degree, number of relationships.
MATCH (n:«labels»)
WHERE n.user_id = $user_id
WITH n
LIMIT $limit
RETURN elementId(n) AS element_id, COUNT { (n)--() } AS degree
