// The statements of a record, `record` being its key in the index of statements, that are nearest to $vectors, at most
// $statement_limit: statements [[text, similarities, the section of a passage, or null]].
CALL (record) {
  MATCH (n:KgagentStatement)
  WHERE $statement_limit > 0 AND n.user_id = $user_id AND n.record = record AND «_kept_statement»
  WITH n, n.embedding AS embedding
  WITH n, CASE WHEN «_comparable_node» THEN [v IN $vectors | 2.0 * vector.similarity.cosine(embedding, v) - 1.0] ELSE [] END AS similarities
  ORDER BY reduce(best = -1.0, one IN similarities | CASE WHEN one > best THEN one ELSE best END) DESC, n.entity_key
  LIMIT $statement_limit
  RETURN collect([n.text, similarities, CASE WHEN n.is_passage THEN coalesce(n.section, '') END]) AS statements
}
RETURN statements
