// The user's nodes of one label that have a key or a name. Keys are matched first: only names require every node of the user.
// Parameters: user_id; texts [text], keys as they are given; lower_names [text]; namesakes (maximum number of nodes of one name).
// Rows: node, by key.
CALL () {
  MATCH (n:«label»)
  WHERE n.entity_key IN $texts
  WITH n
  WHERE n.user_id = $user_id
  RETURN n.entity_key AS meant, n
  UNION
  WITH $lower_names AS names
  WHERE size(names) > 0
  MATCH (n:«label»)
  WHERE n.user_id = $user_id AND n.name IS :: STRING NOT NULL AND toLower(n.name) IN names
  RETURN toLower(n.name) AS meant, n
}
WITH meant, n ORDER BY n.entity_key
WITH meant, collect(n)[..$namesakes] AS named
UNWIND named AS n
WITH DISTINCT n ORDER BY n.entity_key
RETURN «_path_node» AS node
