// The user's nodes with a name or other name that contains one of the tokens or is contained in one of the texts, ignoring case.
// Parameters: user_id; tokens [lower case text]; texts [lower case text].
// Rows: entity_key, name; one for each such name.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
UNWIND [n.name] + «_aliases» AS written
WITH n, written, toLower(toStringOrNull(written)) AS name
WHERE any(token IN $tokens WHERE name CONTAINS token) OR any(text IN $texts WHERE text CONTAINS name)
RETURN n.entity_key AS entity_key, toString(written) AS name
