// The relationships of paths.
// Parameters: user_id; ids [element id].
// Rows: relationship.
UNWIND $ids AS id
MATCH ()-[r]->() WHERE elementId(r) = id
WITH r
WHERE coalesce(r.user_id, $user_id) = $user_id
RETURN «_path_relationship» AS relationship
