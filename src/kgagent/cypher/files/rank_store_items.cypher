// A user's items in namespaces with a prefix: those with the nearest texts first, those without embedded texts last.
// Parameters: user_id; now; prefix; vector; model; dimensions; offset; limit.
// Rows: the item, score (plain cosine of its nearest text; null without one).
MATCH (i:«item»)
WHERE «_item_in_scope»
CALL (i) {
  MATCH (n:«text» {user_id: $user_id, path: i.path, key: i.key})
  WITH n, n.embedding AS embedding
  WHERE «_comparable_node»
  RETURN max(2.0 * vector.similarity.cosine(embedding, $vector) - 1.0) AS score
}
WITH i, score
ORDER BY coalesce(score, -2.0) DESC, i.updated_at DESC, i.path, i.key
SKIP $offset LIMIT $limit
RETURN «_store_item», score
