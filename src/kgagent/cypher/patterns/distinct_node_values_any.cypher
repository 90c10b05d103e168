// Different values of a property that the user's nodes have, whatever their labels; kgagent's own nodes are omitted.
// Parameters: user_id; limit.
// Rows: value (a time as text), is_time.
MATCH (n)
WHERE n.user_id = $user_id AND NOT n:«own_labels» AND n.«property» IS NOT NULL
WITH DISTINCT n.«property» AS value LIMIT $limit
WITH value, «_is_time» AS is_time
RETURN CASE WHEN is_time THEN toString(value) ELSE value END AS value, is_time
