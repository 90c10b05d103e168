// The user's nodes with a name or other name that is one of some texts without accents, or contain one as a person's name contains its words.
// Parameters: user_id; names [{text, letters (all are in the name), whole, words (regular expressions)}]; most (nodes of
// each text).
// Rows: text, nodes.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND n.name IS :: STRING NOT NULL
UNWIND [n.name] + «_aliases» AS written
WITH n, replace(replace(normalize(toLower(written), NFKD), 'ß', 'ss'), 'ς', 'σ') AS name
UNWIND $names AS wanted
WITH n, name, wanted
WHERE all(letter IN wanted.letters WHERE name CONTAINS letter)
  AND (name =~ wanted.whole OR (n:«owner» AND name =~ wanted.words))
WITH DISTINCT wanted.text AS text, n
RETURN text, collect(«_referenced_node»)[..$most] AS nodes
