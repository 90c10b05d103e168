// The user's nodes with text that are among some nodes or adjacent to one of them, most similar to a vector first.
// Parameters: user_id; ids [element id]; vector; dimensions; model; text_properties [name]; neighbors (maximum number
//   examined for one node); limit.
// Rows: node, text, linked_to [id], similarity (plain cosine).
UNWIND $ids AS id
MATCH (source) WHERE elementId(source) = id
WITH source
WHERE source.user_id = $user_id
CALL (source) {
  RETURN source AS n
  UNION ALL
  MATCH (source)-[r]-(n)
  WITH source, r, n LIMIT $neighbors
  WHERE coalesce(r.user_id, $user_id) = $user_id
  RETURN n
}
WITH n, collect(DISTINCT elementId(source)) AS linked_to
WHERE n.user_id = $user_id
WITH n, linked_to, n.«node_embedding» AS embedding,
  [name IN $text_properties WHERE n[name] IS :: STRING NOT NULL AND trim(n[name]) <> '' | n[name]][0] AS text
WHERE text IS NOT NULL
WITH n, linked_to, text, CASE WHEN «_comparable_node» THEN 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0 END AS similarity
WHERE similarity IS NOT NULL
ORDER BY similarity DESC, n.entity_key
LIMIT $limit
RETURN «_path_node» AS node, text, linked_to, similarity
