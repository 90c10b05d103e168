// Deletes some entries of the index of notes of a user: those of records that other programs deleted.
// Parameters: user_id; limit.
// Rows: one {entries}, how many were deleted.
MATCH (entry:KgagentNote)
WHERE entry.user_id = $user_id
WITH entry
LIMIT $limit
DELETE entry
RETURN count(*) AS entries
