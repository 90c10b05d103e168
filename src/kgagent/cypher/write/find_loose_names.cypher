// The user's nodes with a name or other name that is one of some texts without accents, or of a person that contains its words.
// Parameters: user_id; names [{text, plain, may_be_part}]; most (nodes of each text).
// Rows: text, nodes.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND n.name IS :: STRING NOT NULL
UNWIND [text IN [n.name] + «_aliases» | «_plain_text»] AS name
UNWIND $names AS wanted
WITH n, name, wanted
WHERE name = wanted.plain OR (wanted.may_be_part AND n:«owner» AND ' ' + name + ' ' CONTAINS ' ' + wanted.plain + ' ')
WITH DISTINCT wanted.text AS text, n
RETURN text, collect(«_referenced_node»)[..$most] AS nodes
