// How many nodes have no owner, by their labels.
// Parameters: own_labels (of kgagent's bookkeeping).
// Rows: labels, count.
MATCH (n)
WHERE n.user_id IS NULL AND NOT any(label IN labels(n) WHERE label IN $own_labels)
RETURN labels(n) AS labels, count(*) AS count
