// How many nodes have a key of kgagent, or are its bookkeeping, whoever they are of.
// Parameters: own_labels (of kgagent's bookkeeping).
// Rows: one {found}.
MATCH (n)
WHERE n.entity_key IS :: STRING NOT NULL AND n.user_id IS :: STRING NOT NULL OR any(label IN labels(n) WHERE label IN $own_labels)
RETURN count(n) AS found
