// Texts of items that have no embedding of this model.
// Parameters: user_id (null is every user); model; dimensions; after (element id; only texts with a greater one); limit.
// Rows: element_id, text.
MATCH (n:«text»)
WHERE ($user_id IS NULL OR n.user_id = $user_id) AND elementId(n) > $after AND n.text IS :: STRING NOT NULL AND «_outdated_text»
WITH n, elementId(n) AS element_id
ORDER BY element_id
LIMIT $limit
RETURN element_id, n.text AS text
