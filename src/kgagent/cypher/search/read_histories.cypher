// The histories of the user's nodes with the given keys, and of the relationships among them.
// Parameters: user_id; keys [text].
// Rows: one for each record that has a history: entity_key (of a node, else null), relationship (see the relationship record, with its key
//   alone; null for a node), history (as it is stored).
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IN $keys
CALL (n) {
  WITH n
  WHERE n.history IS NOT NULL
  RETURN n.entity_key AS entity_key, null AS relationship, n.history AS history
  UNION ALL
  MATCH (n)-[r:«types»]->(other:«labels»)
  WHERE other.user_id = $user_id AND other.entity_key IN $keys AND r.history IS NOT NULL
    AND coalesce(r.user_id, $user_id) = $user_id
  RETURN null AS entity_key, {
      element_id: elementId(r), neo4j_type: type(r), from_entity_key: n.entity_key, to_entity_key: other.entity_key,
      from_name: n.name, to_name: other.name, properties: {relationship_key: r.relationship_key}
    } AS relationship, r.history AS history
}
RETURN entity_key, relationship, history
