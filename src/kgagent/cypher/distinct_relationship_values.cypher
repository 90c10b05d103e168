// Different values of a property that the relationships between the user's nodes have.
// Parameters: user_id; limit; types [text] (empty for any).
// Rows: value.
MATCH (n)-[r]->(m)
WHERE n.user_id = $user_id AND m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  AND (size($types) = 0 OR type(r) IN $types) AND r.«property» IS NOT NULL
RETURN DISTINCT r.«property» AS value
LIMIT $limit
