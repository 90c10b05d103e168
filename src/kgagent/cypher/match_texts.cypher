// The user's nodes with a name or other name that contains a word of one of several texts or is contained in it, ignoring
// case.
// Parameters: user_id; texts [{text (lower case), words [lower case]}]; words: of all texts; limit: nodes of each text;
//   names_limit: names of each node.
// Rows: position of the text, nodes [{entity_key, names}], the likeliest first; none for a text without such nodes. A
//   likelihood is what `name_score` gives, except for differences that Cypher does not see.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
UNWIND [n.name] + «_aliases» AS written
WITH n, written, toLower(toStringOrNull(written)) AS name
WHERE any(word IN $words WHERE name CONTAINS word) OR any(one IN $texts WHERE one.text CONTAINS name)
UNWIND range(0, size($texts) - 1) AS position
WITH n, written, trim(name) AS name, position, $texts[position].text AS text, $texts[position].words AS words
WITH n, written, name, position, text, words, [word IN words WHERE name CONTAINS word] AS contained
WHERE contained <> [] OR text CONTAINS name
WITH n, written, name, position, text, words, size(name) > size(text) AS is_longer,
  size([word IN contained WHERE ' ' + name + ' ' CONTAINS ' ' + word + ' ']) AS shared
WITH n, written, position, CASE
  WHEN is_longer AND name CONTAINS text THEN 0.7 + 0.3 * size(text) / size(name)
  WHEN NOT is_longer AND text CONTAINS name THEN 0.7 + 0.3 * size(name) / size(text)
  WHEN size(words) > size(split(name, ' ')) THEN 0.6 * shared / size(words)
  ELSE 0.6 * shared / size(split(name, ' '))
END AS likelihood
ORDER BY likelihood DESC
WITH position, n.entity_key AS entity_key, max(likelihood) AS likelihood, collect(toString(written)) AS names
ORDER BY likelihood DESC, entity_key
WITH position, collect({entity_key: entity_key, names: names[..$names_limit]}) AS nodes
RETURN position, nodes[..$limit] AS nodes
