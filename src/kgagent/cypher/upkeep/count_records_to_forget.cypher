// Counts the nodes of a user with their relationships, and the user's deleted records; or those of one node.
// Parameters: user_id; entity_key (null is every node).
// Rows: one {nodes, relationships, deleted}.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id AND ($entity_key IS NULL OR n.entity_key = $entity_key)
  RETURN count(n) AS nodes
}
CALL () {
  MATCH (n:«labels»)-[r]-()
  WHERE n.user_id = $user_id AND ($entity_key IS NULL OR n.entity_key = $entity_key)
  RETURN count(DISTINCT r) AS relationships
}
CALL () {
  MATCH (n:«all_deleted»)
  WHERE n.user_id = $user_id
    AND ($entity_key IS NULL OR $entity_key IN [n.entity_key, n.kgagent_from_entity_key, n.kgagent_to_entity_key, n.kgagent_merged_into])
  RETURN count(n) AS deleted
}
RETURN nodes, relationships, deleted
