// Properties of some relationships of a type between nodes that have no other owner: texts, lists of texts and whole numbers.
// Parameters: user_id; sample (maximum number); omitted [names of properties]; text_limit (characters of a text).
// Rows: fields [[name, value]].
MATCH (a)-[record:«label»]->()
WHERE coalesce(a.user_id, $user_id) = $user_id
WITH record LIMIT $sample
RETURN «_sampled_fields» AS fields
