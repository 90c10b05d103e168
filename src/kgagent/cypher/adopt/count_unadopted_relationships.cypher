// How many relationships of a user's nodes have a type that the ontology lacks, by type.
// Parameters: user_id, or null for all users; types (of the ontology).
// Rows: type, count.
MATCH (a:«labels»)-[r]->()
WHERE coalesce(a.user_id = $user_id, $user_id IS NULL AND a.user_id IS NOT NULL) AND NOT type(r) IN $types
RETURN type(r) AS type, count(*) AS count
