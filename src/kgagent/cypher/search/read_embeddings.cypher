// Stored embeddings of the user's records that can be compared with those of this model.
// Parameters: user_id; keys [entity keys of nodes]; element_ids [of relationships]; dimensions; model.
// Rows: id (the entity key or the element id), embedding.
CALL () {
  UNWIND $keys AS id
  MATCH (n:«labels» {entity_key: id})
  WHERE n.user_id = $user_id
  WITH id, n, n.«node_embedding» AS embedding
  WHERE «_comparable_node»
  RETURN id, embedding
UNION ALL
  UNWIND $element_ids AS id
  MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
  WHERE elementId(r) = id
  WITH id, a, r, b
  WHERE «_owned_relationship»
  WITH id, r, r.relationship_embedding AS embedding
  WHERE «_comparable_relationship»
  RETURN id, embedding
}
RETURN id, embedding
