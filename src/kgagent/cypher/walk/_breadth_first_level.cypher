// One level of `expand_breadth_first`: the nodes reached so far, and the neighbors of those that the previous level reached.
// The rows carry no list of the nodes reached: each row of a sort would be charged for all of it.
CALL (n, sources, level) {
  UNWIND sources AS source
  RETURN n AS reached, source
  UNION ALL
  WITH n, level, [source IN sources WHERE source / $starts = level] AS leading
  WHERE level < $depth AND leading <> []
  CALL (n, level) {
    CALL (n, level) {
      WITH n, level
      WHERE level = 0
      MATCH (n)-[r:«types»]-(m:«labels»)
      RETURN r, m
      LIMIT $start_relationships
      UNION ALL
      WITH n, level
      WHERE level > 0
      MATCH (n)-[r:«types»]-(m:«labels»)
      RETURN r, m
      LIMIT $node_relationships
    }
    WITH n, r, m
    WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id AND m <> n
    WITH DISTINCT m
    ORDER BY m.entity_key IN $keys DESC, «_label_order», m.entity_key
    LIMIT $node_neighbors
    RETURN m
  }
  UNWIND leading AS source
  RETURN m AS reached, source + $starts AS source
}
WITH reached AS m, level, min(source) AS nearest, collect(source) AS seen
WITH m, level, nearest, reduce(second = null, source IN seen | CASE
    WHEN source % $starts = nearest % $starts OR source >= second THEN second
    ELSE source
  END) AS second
ORDER BY nearest / $starts, «_label_order», m.entity_key
LIMIT $nodes
WITH m AS n, CASE WHEN second IS NOT NULL THEN [nearest, second] ELSE [nearest] END AS sources, level + 1 AS level
