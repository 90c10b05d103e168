// Users of whom several nodes are marked as the owner of the graph.
// Parameters: user_id (null: all users).
// Rows: one a user {user_id, owners: how many, first: some of them}.
MATCH (n:«owner»)
WHERE n.is_owner = true AND n.user_id IS NOT NULL AND ($user_id IS NULL OR n.user_id = $user_id)
WITH n
ORDER BY n.user_id, n.created_at, n.entity_key
WITH n.user_id AS user_id, count(n) AS owners, collect(«_referenced_node»)[..5] AS first
WHERE owners > 1
RETURN user_id, owners, first
ORDER BY user_id
