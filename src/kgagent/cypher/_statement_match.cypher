// Entries `n` of the index of statements, the best first, as the records that have them, if they are still the user's and the
// filter keeps them: matches [{node or null, relationship or null, statements [[text, similarity]]}], best first.
WITH n.record AS record, collect({entry: n, similarity: similarity}) AS hits
WITH hits, hits[0].entry AS first
OPTIONAL MATCH (n:«labels» {entity_key: first.from_entity_key})
WHERE first.to_entity_key IS NULL AND n.user_id = $user_id
  AND ($filter.labels IS NULL OR any(label IN labels(n) WHERE label IN $filter.labels))
OPTIONAL MATCH (a:«labels» {entity_key: first.from_entity_key})-[r:«types»]-(b:«labels» {entity_key: first.to_entity_key})
WHERE type(r) = first.neo4j_type AND «_owned_relationship» AND «_allowed_relationship»
WITH hits, n, head(collect(r)) AS r
WHERE n IS NOT NULL OR r IS NOT NULL
RETURN collect({node: «_found_node», relationship: «relationship», statements: [hit IN hits | [hit.entry.text, hit.similarity]]}) AS matches
