// Deletes some of what is kept of deleted records of a user; or of a deleted node, of deleted relationships at it, and of what was
// merged into it.
// Parameters: user_id; entity_key (null is every node); limit.
// Rows: one {deleted}, how many were deleted.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id
  AND ($entity_key IS NULL OR $entity_key IN [n.entity_key, n.kgagent_from_entity_key, n.kgagent_to_entity_key, n.kgagent_merged_into])
WITH n
LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted
