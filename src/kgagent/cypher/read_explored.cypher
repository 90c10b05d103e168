// What explore returns beside its matches: full records, and the surroundings of nodes: the relationships among them and their neighbors.
// Parameters: user_id; keys [entity keys of nodes to read]; element_ids [of relationships to read]; around [entity keys]; among_limit;
//   neighbor_limit.
// Rows: one {nodes, relationships, among [relationship], neighbors [{node, relationships}]}.
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
«_surroundings»
RETURN nodes, relationships, among, neighbors
