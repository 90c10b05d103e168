// The relationships of paths.
// Parameters: user_id; ids [element id].
// Rows: relationship.
UNWIND $ids AS id
MATCH (a)-[r]->(b) WHERE elementId(r) = id
WITH a, r, b
WHERE «_owned_relationship»
RETURN «_path_relationship» AS relationship
