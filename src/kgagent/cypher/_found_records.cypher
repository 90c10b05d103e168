// Full records of the nodes with some keys ($keys) and the relationships with some element ids ($element_ids), if they are still
// the user's: nodes, relationships.
CALL () {
  UNWIND $keys AS key
  MATCH (n:«labels» {entity_key: key})
  WHERE n.user_id = $user_id
  RETURN collect(«_found_node») AS nodes
}
CALL () {
  UNWIND $element_ids AS element_id
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = element_id
  WITH r
  WHERE coalesce(r.user_id, $user_id) = $user_id AND startNode(r).user_id = $user_id AND endNode(r).user_id = $user_id
    AND startNode(r).entity_key IS :: STRING NOT NULL AND endNode(r).entity_key IS :: STRING NOT NULL
  RETURN collect(«_found_relationship») AS relationships
}
