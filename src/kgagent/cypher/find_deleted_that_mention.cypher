// The user's deleted records that mention a text in their notes, or in the progress of sources that were merged into them.
// Parameters: user_id; mentioned, the text as it is stored.
// Rows: element_id, entity_key, from_entity_key, to_entity_key, notes, ingestion_merged.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id AND (n.notes CONTAINS $mentioned OR n.ingestion_merged CONTAINS $mentioned)
RETURN elementId(n) AS element_id, n.entity_key AS entity_key, n.kgagent_from_entity_key AS from_entity_key,
  n.kgagent_to_entity_key AS to_entity_key, n.notes AS notes, n.ingestion_merged AS ingestion_merged
ORDER BY element_id
