// The user's nodes and relationships, deleted ones too, that mention a key in their notes, and nodes that mention it in the
// progress of sources that were merged into them.
// Parameters: user_id; text, the JSON-escaped key.
// Rows: element_id, is_relationship, is_deleted, entity_key, from_entity_key, to_entity_key, neo4j_type, notes, merged.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id AND (n.notes CONTAINS $text OR n.ingestion_merged CONTAINS $text)
  RETURN elementId(n) AS element_id, false AS is_relationship, false AS is_deleted, n.entity_key AS entity_key,
    null AS from_entity_key, null AS to_entity_key, null AS neo4j_type, n.notes AS notes, n.ingestion_merged AS merged
  UNION ALL
  MATCH (a:«labels»)-[r:«types»]->(b)
  WHERE a.user_id = $user_id AND r.notes CONTAINS $text
  RETURN elementId(r) AS element_id, true AS is_relationship, false AS is_deleted, null AS entity_key,
    a.entity_key AS from_entity_key, b.entity_key AS to_entity_key, type(r) AS neo4j_type, r.notes AS notes, null AS merged
  UNION ALL
  MATCH (n:«all_deleted»)
  WHERE n.user_id = $user_id AND (n.notes CONTAINS $text OR n.ingestion_merged CONTAINS $text)
  RETURN elementId(n) AS element_id, false AS is_relationship, true AS is_deleted, n.entity_key AS entity_key,
    n.kgagent_from_entity_key AS from_entity_key, n.kgagent_to_entity_key AS to_entity_key, null AS neo4j_type, n.notes AS notes, n.ingestion_merged AS merged
}
RETURN element_id, is_relationship, is_deleted, entity_key, from_entity_key, to_entity_key, neo4j_type, notes, merged
ORDER BY is_relationship, is_deleted, element_id
