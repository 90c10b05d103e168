// The last node of the user that was merged after a time, and whose merge changed or deleted one of some records.
// Parameters: user_id; after; nodes [entity_key]; relationships [relationship_key].
// Rows: entity_key and name of the node; none if there was no such merge.
MATCH (dropped:«deleted_node»)
WHERE dropped.user_id = $user_id AND dropped.kgagent_stays IS NULL AND dropped.kgagent_merged_into IS NOT NULL
  AND dropped.kgagent_deleted_at > $after
MATCH (kept:«all_deleted»)
WHERE kept.user_id = $user_id AND kept.kgagent_deletion = dropped.kgagent_deletion
  AND (kept.entity_key IN $nodes OR kept.relationship_key IN $relationships)
RETURN dropped.entity_key AS entity_key, toStringOrNull(dropped.name) AS name
ORDER BY dropped.kgagent_deleted_at DESC
LIMIT 1
