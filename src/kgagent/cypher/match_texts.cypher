// The user's nodes with a name or other name that is like one of several texts: one contains the other, or the name contains enough
// of the words of the text; ignoring case.
// Parameters: user_id; texts [{text (lower case), words [lower case], needed: number of words}]; limit: names of each text.
// Rows: names [{entity_key, name}], those most like the text first; one for each text, in their order.
UNWIND range(0, size($texts) - 1) AS position
CALL (position) {
  WITH position, $texts[position].text AS text, $texts[position].words AS words, $texts[position].needed AS needed
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
  UNWIND [n.name] + «_aliases» AS written
  WITH n, written, toLower(toStringOrNull(written)) AS name, text, words, needed
  WITH n, written, name, text, needed, name CONTAINS text OR text CONTAINS name AS is_part,
    [word IN words WHERE name CONTAINS word] AS contained
  WHERE is_part OR size(contained) >= needed
  WITH n, written, is_part, abs(size(name) - size(text)) AS longer,
    CASE WHEN is_part THEN 0 ELSE size([word IN contained WHERE ' ' + name + ' ' CONTAINS ' ' + word + ' ']) END AS shared
  ORDER BY is_part DESC, shared DESC, longer, n.entity_key LIMIT $limit
  RETURN collect({entity_key: n.entity_key, name: toString(written)}) AS names
}
RETURN names
ORDER BY position
