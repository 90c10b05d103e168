// A user's items in namespaces with a prefix, newest first.
// Parameters: user_id; now; prefix; offset; limit.
// Rows: the item, score (null).
MATCH (i:«item»)
WHERE «_item_in_scope»
WITH i
ORDER BY i.updated_at DESC, i.path, i.key
SKIP $offset LIMIT $limit
RETURN «_store_item», null AS score
