// The relationships among the nodes whose keys are in $around, and their neighbors with the relationships to them, past ones last: among,
// neighbors.
CALL () {
  UNWIND $around AS key
  MATCH (a:«labels» {entity_key: key})
  WHERE a.user_id = $user_id
  RETURN collect(DISTINCT a) AS members
}
CALL (members) {
  UNWIND members AS a
  UNWIND members AS b
  WITH a, b
  WHERE elementId(a) < elementId(b)
  MATCH (a)-[r:«types»]-(b)
  WHERE coalesce(r.user_id, $user_id) = $user_id AND «_kept_relationship»
  WITH DISTINCT r
  ORDER BY «_past», coalesce(r.attitude, 0) + coalesce(r.proximity, 0) DESC, r.relationship_key
  LIMIT $among_limit
  RETURN collect(«_found_relationship») AS among
}
CALL (members) {
  UNWIND members AS a
  CALL (a, members) {
    MATCH (a)-[r:«types»]-(n:«labels»)
    WHERE n.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id AND NOT n IN members
      AND «_kept_relationship»
    RETURN n, r
    LIMIT $neighbor_limit
  }
  WITH DISTINCT n, r, «_past» AS past
  ORDER BY past
  WITH n, collect(r) AS touching, min(past) AS past
  ORDER BY past, size(touching) DESC, n.entity_key
  LIMIT $neighbor_limit
  RETURN collect({node: «_found_node», relationships: COLLECT { UNWIND touching AS r RETURN «_found_relationship» }}) AS neighbors
}
