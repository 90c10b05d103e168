// Embeddings of a few of the user's relationships of each of some types, found by the full-text index.
// Parameters: user_id; dimensions; model; index; types [{type, query (Lucene)}]; sample (maximum number of each type).
// Rows: type, embeddings.
UNWIND $types AS wanted
CALL (wanted) {
  CALL db.index.fulltext.queryRelationships($index, wanted.query, {limit: $sample}) YIELD relationship AS r
  WITH wanted, r, r.relationship_embedding AS embedding
  WHERE r.user_id = $user_id AND r.relationship_type = wanted.type AND «_comparable_relationship»
  RETURN collect(embedding) AS embeddings
}
RETURN wanted.type AS type, embeddings
