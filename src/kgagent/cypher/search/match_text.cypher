// The user's nodes with a name or other name that contains a word of a text or is contained in it, ignoring case and accents.
// Parameters: user_id; text and words, without accents; limit.
// Rows: one {nodes [{entity_key, names: those names}]}, the likeliest first. A likelihood is what `name_score` gives, except
//   for differences that Cypher does not see.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
WITH n, [name IN [text IN [toStringOrNull(n.name)] + «_aliases» | {written: text, plain: «_plain_text»}]
  WHERE name.plain <> '' AND ($text CONTAINS name.plain OR any(word IN $words WHERE name.plain CONTAINS word))] AS names
WHERE names <> []
WITH n.entity_key AS entity_key, [name IN names | name.written] AS names, [name IN [name IN names | name.plain] | CASE
  WHEN size(name) > size($text) AND name CONTAINS $text THEN 0.7 + 0.3 * size($text) / size(name)
  WHEN size(name) <= size($text) AND $text CONTAINS name THEN 0.7 + 0.3 * size(name) / size($text)
  ELSE 0.6 * size([word IN $words WHERE ' ' + name + ' ' CONTAINS ' ' + word + ' ']) / CASE
    WHEN size($words) > size(split(name, ' ')) THEN size($words)
    ELSE size(split(name, ' '))
  END
END] AS likelihoods
WITH entity_key, names, reduce(best = 0.0, one IN likelihoods | CASE WHEN one > best THEN one ELSE best END) AS likelihood
ORDER BY likelihood DESC, entity_key LIMIT $limit
RETURN collect({entity_key: entity_key, names: names}) AS nodes
