// Deletes some of the items that programs stored for the user, and of their embedded texts.
// Parameters: user_id; limit.
// Rows: one {items, texts}, how many were deleted.
MATCH (n:«item»|«text»)
WHERE n.user_id = $user_id AND n.path IS NOT NULL AND n.key IS NOT NULL
WITH n, n:«item» AS is_item
LIMIT $limit
DETACH DELETE n
RETURN count(CASE WHEN is_item THEN 1 END) AS items, count(CASE WHEN NOT is_item THEN 1 END) AS texts
