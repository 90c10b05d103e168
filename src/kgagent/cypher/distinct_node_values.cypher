// Different values of a property that the user's nodes have.
// Parameters: user_id; limit.
// Rows: value.
MATCH (n:«label»)
WHERE n.user_id = $user_id AND n.«property» IS NOT NULL
RETURN DISTINCT n.«property» AS value
LIMIT $limit
