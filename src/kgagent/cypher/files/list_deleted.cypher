// What is kept of all deleted nodes and relationships of the user.
// Parameters: user_id.
// Rows: element_id, sort_key [texts].
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id
RETURN elementId(n) AS element_id, [item IN [
  head(labels(n)), n.kgagent_deleted_at, n.entity_key, n.relationship_key, n.kgagent_deletion
] | coalesce(toStringOrNull(item), '')] AS sort_key
