// The items of texts `n` that an index found, best first.
WITH n
WHERE n.user_id = $user_id AND n.path STARTS WITH $prefix AND «_eligible_node»
MATCH (i:«item» {user_id: $user_id, path: n.path, key: n.key})
WHERE «_live_item»
WITH i, max(2.0 * vector.similarity.cosine(n.embedding, $vector) - 1.0) AS score
ORDER BY score DESC, i.updated_at DESC, i.path, i.key
SKIP $offset LIMIT $limit
RETURN «_store_item», score
