// Deletes some entries of the index of statements of a user, or of a node and the relationships at it: those of records that
// other programs deleted too.
// Parameters: user_id; entity_key (null is every node); limit.
// Rows: one {entries}, how many were deleted.
MATCH (entry:KgagentStatement)
WHERE entry.user_id = $user_id
  AND ($entity_key IS NULL OR $entity_key IN [entry.from_entity_key, entry.to_entity_key])
WITH entry
LIMIT $limit
DELETE entry
RETURN count(*) AS entries
