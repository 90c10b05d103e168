// The nodes of the user that have the most relationships, the owner of the graph first.
// Parameters: user_id; limit.
// Rows: node, degree (number of its relationships).
MATCH (n:«labels»)
WHERE n.user_id = $user_id
WITH n, COUNT { (n)-[:«types»]-() } AS degree
ORDER BY coalesce(n.is_owner, false) DESC, degree DESC, n.entity_key
LIMIT $limit
RETURN «_node» AS node, degree
