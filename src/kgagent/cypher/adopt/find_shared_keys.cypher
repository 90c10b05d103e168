// Keys of nodes without an owner that another node without an owner, or of the user, has too.
// Parameters: user_id; own_labels (of kgagent's bookkeeping).
// Rows: key.
MATCH (n)
WHERE n.user_id IS NULL AND n.entity_key IS :: STRING NOT NULL
WITH collect(DISTINCT n.entity_key) AS keys
MATCH (n)
WHERE n.entity_key IN keys AND coalesce(n.user_id, $user_id) = $user_id AND NOT any(label IN labels(n) WHERE label IN $own_labels)
WITH n.entity_key AS key, count(*) AS found
WHERE found > 1
RETURN key
