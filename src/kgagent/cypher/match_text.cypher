// The user's nodes whose name contains one of the tokens or is contained in one of the texts, ignoring case.
// Parameters: user_id; tokens [lower case text]; texts [lower case text].
// Rows: entity_key, name.
MATCH (n:«labels»)
WHERE n.user_id = $user_id
WITH n, toLower(toStringOrNull(n.name)) AS name
WHERE any(token IN $tokens WHERE name CONTAINS token) OR any(text IN $texts WHERE text CONTAINS name)
RETURN n.entity_key AS entity_key, toString(n.name) AS name
