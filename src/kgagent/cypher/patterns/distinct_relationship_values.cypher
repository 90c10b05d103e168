// Different values of a property that the relationships between the user's nodes have.
// Parameters: user_id; limit; types [text] (empty for any).
// Rows: value (a time as text), is_time.
MATCH (n)-[r]->(m)
WHERE n.user_id = $user_id AND m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  AND (size($types) = 0 OR type(r) IN $types) AND r.«property» IS NOT NULL
WITH DISTINCT r.«property» AS value LIMIT $limit
WITH value, «_is_time» AS is_time
RETURN CASE WHEN is_time THEN toString(value) ELSE value END AS value, is_time
