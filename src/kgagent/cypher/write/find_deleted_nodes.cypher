// What is kept of deleted nodes of the user that a reference may mean, the latest first.
// Parameters: user_id; key; prefix (beginning of a key), or null; plain (name without accents); limit.
// Rows: element_id (of what is kept), labels, deletion, merged_into (key of the node into which it was merged, or null), deleted_at,
//   undo_until, vector_length, properties.
MATCH (n:«deleted_node»)
WHERE n.user_id = $user_id AND n.kgagent_stays IS NULL AND (n.entity_key = $key OR n.entity_key STARTS WITH $prefix
    OR any(text IN [toStringOrNull(n.name)] WHERE «_plain_text» = $plain))
RETURN elementId(n) AS element_id, n.kgagent_labels AS labels, n.kgagent_deletion AS deletion, n.kgagent_merged_into AS merged_into,
  n.kgagent_deleted_at AS deleted_at, n.kgagent_undo_until AS undo_until,
  CASE WHEN n.«node_embedding» IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(n.«node_embedding») END AS vector_length,
  n {.*, «node_embedding»: null, «_deletion_properties»} AS properties
ORDER BY deleted_at DESC, element_id
LIMIT $limit
