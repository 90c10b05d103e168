// The user's nodes that have one of some texts as another name; it reads the other names of every node of the user.
// Parameters: user_id; names [lower case text].
// Rows: node.
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL AND n.aliases IS NOT NULL
  AND any(alias IN «_aliases» WHERE toLower(alias) IN $names)
RETURN «_referenced_node» AS node
