// The namespaces in which a user has items.
// Parameters: user_id; now; prefix.
// Rows: namespace.
MATCH (i:«item»)
WHERE «_item_in_scope»
WITH DISTINCT i.path AS path, i.namespace AS namespace
RETURN namespace
