// Deletes some entries of the index of notes, which old graphs have instead of the index of statements.
// Parameters: user_id (null is every user); limit.
// Rows: one {entries}, how many were deleted.
MATCH (entry:KgagentNote)
WHERE $user_id IS NULL OR entry.user_id = $user_id
WITH entry
LIMIT $limit
DELETE entry
RETURN count(*) AS entries
