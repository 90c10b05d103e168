// Some nodes of a label that have no other owner.
// Parameters: user_id; sample (maximum number of nodes); text_limit (characters of a text).
// Rows: fields [[name, value]].
MATCH (record:«label»)
WHERE coalesce(record.user_id, $user_id) = $user_id
WITH record LIMIT $sample
RETURN «_foreign_fields» AS fields
