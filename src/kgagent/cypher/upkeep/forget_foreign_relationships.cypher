// Deletes some relationships that name the user as their owner; the user's own nodes have none any more.
// Parameters: user_id; limit.
// Rows: one {relationships}, how many were deleted.
MATCH ()-[r:«types»]->()
WHERE r.user_id = $user_id
WITH r
LIMIT $limit
DELETE r
RETURN count(r) AS relationships
