// The users who have nodes, or deleted records that are kept.
// Rows: user_id.
MATCH (n:«labels»)
WHERE n.user_id > ''
RETURN DISTINCT n.user_id AS user_id
