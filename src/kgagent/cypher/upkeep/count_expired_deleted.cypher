// Counts the deleted records that can no longer be restored.
// Parameters: user_id (null is every user); now.
// Rows: one {nodes, relationships}.
MATCH (expired:«all_deleted»)
WHERE expired.kgagent_undo_until <= $now AND ($user_id IS NULL OR expired.user_id = $user_id)
RETURN count(CASE WHEN expired:«deleted_node» THEN 1 END) AS nodes,
  count(CASE WHEN expired:«deleted» THEN 1 END) AS relationships
