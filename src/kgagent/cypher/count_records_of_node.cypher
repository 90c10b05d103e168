// Counts what there is of a node of the user.
// Parameters: user_id; entity_key.
// Rows: one {nodes, relationships, deleted}.
CALL () {
  OPTIONAL MATCH (n:«labels» {entity_key: $entity_key})
  WHERE n.user_id = $user_id
  RETURN count(n) AS nodes, coalesce(sum(COUNT { (n)--() }), 0) AS relationships
}
CALL () {
  MATCH (n:«all_deleted»)
  WHERE n.user_id = $user_id
    AND $entity_key IN [n.entity_key, n.kgagent_from_entity_key, n.kgagent_to_entity_key]
  RETURN count(n) AS deleted
}
RETURN nodes, relationships, deleted
