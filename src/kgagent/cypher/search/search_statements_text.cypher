// The user's statements that a full-text index finds for each query, best first; and what each word of a query weighs: the score of
// its best match.
// Parameters: user_id; dimensions; model; filter; index; queries [{position, text (Lucene), words [{word, text (Lucene)}], vector or
//   null}]; limit (records); of_record (statements of each); fetch (matches to fetch).
// Rows: one for each query: query, hits (number of index matches), kept (those of the user that the filter keeps), matches (see `_statement_match`; a similarity is null if it cannot
//   be compared), weights [[word, score]], of words with a match.
UNWIND $queries AS query
CALL (query) {
  CALL db.index.fulltext.queryNodes($index, query.text, {limit: $fetch}) YIELD node AS n, score
  RETURN count(*) AS hits, collect(CASE WHEN n.user_id = $user_id AND score > 0 AND «_kept_statement» THEN n END) AS kept
}
CALL (query, kept) {
  UNWIND range(0, size(kept) - 1) AS place
  WITH query, place, kept[place] AS n, kept[place].embedding AS embedding
  WITH n, place, CASE WHEN query.vector IS NOT NULL AND «_comparable_node»
    THEN 2.0 * vector.similarity.cosine(embedding, query.vector) - 1.0 END AS similarity
  «_statement_match»
}
CALL (query) {
  UNWIND query.words AS word
  CALL (word) {
    CALL db.index.fulltext.queryNodes($index, word.text, {limit: 50}) YIELD node, score
    WITH node, score
    WHERE node.user_id = $user_id
    RETURN max(score) AS score
  }
  WITH word, score
  WHERE score IS NOT NULL
  RETURN collect([word.word, score]) AS weights
}
RETURN query.position AS query, hits, size(kept) AS kept, matches, weights
ORDER BY query
