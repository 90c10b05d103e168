// Kinds of values in the properties of some nodes of the user.
// Parameters: user_id; element_ids; hidden [names of properties]; text_limit, json_limit (characters of a text that is
//   returned); texts_limit (different texts returned, plus one).
// Rows: name, kind, times, texts [[text or null, times]].
MATCH (one)
WHERE elementId(one) IN $element_ids AND one.user_id = $user_id
«_live_values»
