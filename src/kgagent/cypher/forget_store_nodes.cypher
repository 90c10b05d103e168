// Deletes some of the items that programs stored for the user, or some of their embedded texts.
// Parameters: user_id; limit.
// Rows: one {found}, how many were deleted.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND n.path IS NOT NULL AND n.key IS NOT NULL
WITH n
LIMIT $limit
DETACH DELETE n
RETURN count(*) AS found
