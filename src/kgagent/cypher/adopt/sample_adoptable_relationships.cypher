// Some relationships of a type between nodes that have no other owner.
// Parameters: user_id; sample (maximum number of relationships); text_limit (characters of a text).
// Rows: fields [[name, value]].
MATCH (a)-[record:«label»]->()
WHERE coalesce(a.user_id, $user_id) = $user_id
WITH record LIMIT $sample
RETURN «_foreign_fields» AS fields
