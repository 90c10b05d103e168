// Deletes some relationships of a node of the user, and keeps nothing of them.
// Parameters: user_id; element_id; limit.
// Rows: one {relationships}, how many were deleted.
MATCH (n)-[r]-()
WHERE elementId(n) = $element_id AND n.user_id = $user_id
WITH DISTINCT r
LIMIT $limit
DELETE r
RETURN count(r) AS relationships
