// The user's nodes of one label that have a key or a name.
// Parameters: user_id; texts [text], as they are given; lower_texts [text]; namesakes (nodes of one name at the most).
// Rows: node, by key.
MATCH (n:«label»)
WHERE n.user_id = $user_id
  AND (n.entity_key IN $texts OR (n.name IS :: STRING NOT NULL AND toLower(n.name) IN $lower_texts))
WITH n ORDER BY n.entity_key
WITH CASE WHEN n.entity_key IN $texts THEN n.entity_key ELSE toLower(n.name) END AS meant, collect(n)[..$namesakes] AS named
UNWIND named AS n
WITH n ORDER BY n.entity_key
RETURN «_path_node» AS node
