// The deleted nodes and relationships of the user that can be restored, the latest first. Relationships that were deleted with a
// node, and what a merge changed, return with it; those whose nodes do not exist cannot be restored.
// Parameters: user_id; now; limit.
// Rows: entity_key and name (of a node; null for a relationship), labels, relationship_type, from {entity_key, name} and
//   to {entity_key, name} (of a relationship; null for a node), merged_into (key of the node into which a node was merged, or null),
//   undo_until.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id AND n.kgagent_undo_until > $now AND n.kgagent_stays IS NULL
  AND (n:«deleted_node» OR n.kgagent_deletion IS NULL)
OPTIONAL MATCH (a:«labels» {entity_key: n.kgagent_from_entity_key})
WHERE a.user_id = $user_id
OPTIONAL MATCH (b:«labels» {entity_key: n.kgagent_to_entity_key})
WHERE b.user_id = $user_id
WITH n, head(collect(a {.entity_key, .name})) AS from, head(collect(b {.entity_key, .name})) AS to
WHERE n:«deleted_node» OR (from IS NOT NULL AND to IS NOT NULL)
RETURN n.entity_key AS entity_key, CASE WHEN n:«deleted_node» THEN toStringOrNull(n.name) END AS name, n.kgagent_labels AS labels,
  toStringOrNull(n.relationship_type) AS relationship_type, from, to, n.kgagent_merged_into AS merged_into,
  n.kgagent_undo_until AS undo_until
ORDER BY n.kgagent_deleted_at DESC, elementId(n)
LIMIT $limit
