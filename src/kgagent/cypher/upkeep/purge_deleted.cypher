// Purges some of the deleted records that can no longer be restored.
// Parameters: user_id (null is every user); now; limit.
// Rows: one {nodes, relationships}, how many were purged.
MATCH (expired:«all_deleted»)
WHERE expired.kgagent_undo_until <= $now AND ($user_id IS NULL OR expired.user_id = $user_id)
WITH expired, expired:«deleted_node» AS is_node
LIMIT $limit
DETACH DELETE expired
RETURN count(CASE WHEN is_node THEN 1 END) AS nodes, count(CASE WHEN NOT is_node THEN 1 END) AS relationships
