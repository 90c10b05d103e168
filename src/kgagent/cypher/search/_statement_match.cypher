// Entries `n` of the index of statements with their `similarity` and `place` (the best has the least), as the records that have them, the
// best first, at most $limit of those that are still the user's and that the filter keeps: matches [{node or null, relationship or null,
// statements [[text, similarity, the section of a passage, or null]], at most $of_record}].
WITH n.record AS record, n AS entry, similarity, place
ORDER BY place, entry.entity_key
WITH record, min(place) AS place, collect({entry: entry, similarity: similarity})[..$of_record] AS hits
ORDER BY place, record
CALL (hits) {
  WITH hits[0].entry AS first
  MATCH (n:«labels» {entity_key: first.from_entity_key})
  WHERE first.to_entity_key IS NULL AND n.user_id = $user_id
    AND ($filter.labels IS NULL OR any(label IN labels(n) WHERE label IN $filter.labels))
  RETURN n, null AS r
UNION ALL
  WITH hits[0].entry AS first
  MATCH (a:«labels» {entity_key: first.from_entity_key})-[r:«types»]-(b:«labels» {entity_key: first.to_entity_key})
  WHERE type(r) = first.neo4j_type AND r.relationship_key = first.record AND «_owned_relationship» AND «_allowed_relationship»
  RETURN null AS n, r
  LIMIT 1
}
WITH hits, n, r
LIMIT $limit
RETURN collect({node: «_found_node», relationship: «relationship», statements: [hit IN hits | [hit.entry.text, hit.similarity, CASE WHEN hit.entry.is_passage THEN coalesce(hit.entry.section, '') END]]}) AS matches
