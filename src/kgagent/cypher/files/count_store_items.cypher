// Number of a user's items in namespaces with a prefix, counted up to one more than the limit.
// Parameters: user_id; now; prefix; scan_limit.
// Rows: one {found}.
MATCH (i:«item»)
WHERE «_item_in_scope»
WITH i LIMIT $scan_limit + 1
RETURN count(i) AS found
