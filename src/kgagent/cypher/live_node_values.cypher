// What kinds of values some nodes of the user hold.
// Parameters: user_id; element_ids; hidden [names of properties]; text_limit, json_limit (characters of a text that is
//   told); texts_limit (different texts returned, plus one).
// Rows: name, kind, times, texts [[text or null, times]].
MATCH (one)
WHERE elementId(one) IN $element_ids AND one.user_id = $user_id
«_live_values»
