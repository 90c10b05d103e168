// The user's nodes whose names are some texts without accents, or begin with one as a person's name with the first name.
// Parameters: user_id; names [{text, start (first letter), whole, first (regular expressions)}]; most (nodes of each text).
// Rows: text, nodes.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND n.name IS :: STRING NOT NULL
WITH n, replace(replace(normalize(toLower(n.name), NFKD), 'ß', 'ss'), 'ς', 'σ') AS name
UNWIND $names AS wanted
WITH n, name, wanted
WHERE name STARTS WITH wanted.start AND (name =~ wanted.whole OR (n:«owner» AND name =~ wanted.first))
RETURN wanted.text AS text, collect(«_referenced_node»)[..$most] AS nodes
