// The user's nodes with a name or other name that is like one of several texts: one contains the other, or the name contains enough
// of the words of the text; ignoring case.
// Parameters: user_id; texts [{text (lower case), words [lower case], needed: number of words}]; words: of all texts; limit: names of
// each text.
// Rows: position of the text, names [{entity_key, name}], those most like the text first; none for a text without such names.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
UNWIND [n.name] + «_aliases» AS written
WITH n, written, toLower(toStringOrNull(written)) AS name
WHERE any(word IN $words WHERE name CONTAINS word) OR any(one IN $texts WHERE one.text CONTAINS name)
UNWIND range(0, size($texts) - 1) AS position
WITH n, written, name, position, $texts[position] AS one
WITH n, written, name, position, one, name CONTAINS one.text OR one.text CONTAINS name AS is_part,
  [word IN one.words WHERE name CONTAINS word] AS contained
WHERE is_part OR size(contained) >= one.needed
WITH n, written, position, is_part, abs(size(name) - size(one.text)) AS longer,
  CASE WHEN is_part THEN 0 ELSE size([word IN contained WHERE ' ' + name + ' ' CONTAINS ' ' + word + ' ']) END AS shared
ORDER BY is_part DESC, shared DESC, longer, n.entity_key
WITH position, collect({entity_key: n.entity_key, name: toString(written)}) AS names
RETURN position, names[..$limit] AS names
