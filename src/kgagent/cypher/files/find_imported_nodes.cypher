// Nodes of the user that a file may have too.
// Parameters: user_id; keys; omitted [names of properties].
// Rows: entity_key; record, see the fragment.
UNWIND $keys AS key
MATCH (n:«labels» {entity_key: key})
WHERE n.user_id = $user_id
RETURN key AS entity_key, «_exported_node» AS record
