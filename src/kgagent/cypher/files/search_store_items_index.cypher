// A user's items whose texts are nearest to a vector, from the index that filters by user inside itself.
// Parameters: user_id; now; prefix; vector; model; fetch (index matches to fetch); offset; limit.
// Rows: the item, score (plain cosine).
MATCH (n)
SEARCH n IN (VECTOR INDEX «index» FOR $vector WHERE n.user_id = $user_id LIMIT $fetch)
WITH n
WHERE n.user_id = $user_id AND n.path STARTS WITH $prefix AND «_eligible_node»
MATCH (i:«item» {user_id: $user_id, path: n.path, key: n.key})
WHERE «_live_item»
WITH i, max(2.0 * vector.similarity.cosine(n.embedding, $vector) - 1.0) AS score
ORDER BY score DESC, i.updated_at DESC, i.path, i.key
SKIP $offset LIMIT $limit
RETURN «_store_item», score
