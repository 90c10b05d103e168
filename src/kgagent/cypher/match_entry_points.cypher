// The user's nodes of one label that have a key or a name.
// Parameters: user_id; texts [text], as they are given; lower_texts [text].
// Rows: entity_key, name, node; by key.
MATCH (n:«label»)
WHERE n.user_id = $user_id
  AND (n.entity_key IN $texts OR (n.name IS :: STRING NOT NULL AND toLower(n.name) IN $lower_texts))
RETURN «_path_node» AS node
ORDER BY n.entity_key
LIMIT $limit
