// The user's deleted records that mention a text in their notes.
// Parameters: user_id; mentioned, the text as it is stored.
// Rows: element_id, entity_key, from_entity_key, to_entity_key, notes.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id AND n.notes CONTAINS $mentioned
RETURN elementId(n) AS element_id, n.entity_key AS entity_key, n.kgagent_from_entity_key AS from_entity_key,
  n.kgagent_to_entity_key AS to_entity_key, n.notes AS notes
ORDER BY element_id
