// Full records of the nodes with some keys ($keys) and the relationships with some element ids ($element_ids), if they are still the
// user's, each as [record, similarities, statements]: plain cosine with each of $vectors, and the statements nearest to them, at most
// $statement_limit, as [text, similarities, the section of a passage, or null]; a similarity is null if it cannot be compared.
CALL () {
  UNWIND $keys AS key
  MATCH (n:«labels» {entity_key: key})
  WHERE n.user_id = $user_id
  WITH n, n.«node_embedding» AS embedding
  WITH n, CASE WHEN «_comparable_node» THEN [v IN $vectors | 2.0 * vector.similarity.cosine(embedding, v) - 1.0] ELSE [] END AS similarities
  CALL (n) {
    WITH n.entity_key AS record
    «_statements_of_record»
  }
  RETURN collect([«_found_node», similarities, statements]) AS nodes
}
CALL () {
  UNWIND $element_ids AS element_id
  MATCH ()-[r:«types»]->()
  WHERE elementId(r) = element_id
  WITH r
  WHERE coalesce(r.user_id, $user_id) = $user_id AND startNode(r).user_id = $user_id AND endNode(r).user_id = $user_id
    AND startNode(r).entity_key IS :: STRING NOT NULL AND endNode(r).entity_key IS :: STRING NOT NULL
  WITH r, r.relationship_embedding AS embedding
  WITH r, CASE WHEN «_comparable_relationship» THEN [v IN $vectors | 2.0 * vector.similarity.cosine(embedding, v) - 1.0] ELSE [] END AS similarities
  CALL (r) {
    WITH r.relationship_key AS record
    «_statements_of_record»
  }
  RETURN collect([«_found_relationship», similarities, statements]) AS relationships
}
