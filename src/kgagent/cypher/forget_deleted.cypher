// Deletes some of what is kept of deleted records of the user.
// Parameters: user_id; limit.
// Rows: one {found}, how many were deleted.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id
WITH n
LIMIT $limit
DETACH DELETE n
RETURN count(*) AS found
