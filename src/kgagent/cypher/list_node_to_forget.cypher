// The nodes of the user with a key, one of each label.
// Parameters: user_id; entity_key.
// Rows: element_id; degree, number of relationships.
MATCH (n:«labels» {entity_key: $entity_key})
WHERE n.user_id = $user_id
RETURN elementId(n) AS element_id, COUNT { (n)--() } AS degree
