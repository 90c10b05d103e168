// The different free types of the user's relationships.
// Parameters: user_id; limit.
// Rows: one {types [text]}.
MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
WHERE «_owned_relationship» AND r.relationship_type IS :: STRING NOT NULL
WITH DISTINCT r.relationship_type AS free_type LIMIT $limit
RETURN collect(free_type) AS types
