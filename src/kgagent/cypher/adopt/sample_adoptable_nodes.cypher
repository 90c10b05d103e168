// Properties of some nodes of a label that have no other owner: texts, lists of texts and whole numbers.
// Parameters: user_id; sample (maximum number of nodes); omitted [names of properties]; text_limit (characters of a text).
// Rows: fields [[name, value]].
MATCH (record:«label»)
WHERE coalesce(record.user_id, $user_id) = $user_id
WITH record LIMIT $sample
RETURN «_sampled_fields» AS fields
