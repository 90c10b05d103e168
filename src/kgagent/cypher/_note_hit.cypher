// The best of the entries `note` of the index of notes, each with its `similarity` and the node or relationship that has the note, if it
// is still the user's and the filter keeps it.
WITH note.record AS record, collect({note: note, similarity: similarity}) AS hits
WITH hits, hits[0].note AS first
OPTIONAL MATCH (n:«labels» {entity_key: first.from_entity_key})
WHERE first.to_entity_key IS NULL AND n.user_id = $user_id
  AND ($filter.labels IS NULL OR any(label IN labels(n) WHERE label IN $filter.labels))
OPTIONAL MATCH (a:«labels» {entity_key: first.from_entity_key})-[r:«types»]-(b:«labels» {entity_key: first.to_entity_key})
WHERE type(r) = first.neo4j_type AND «_owned_relationship» AND «_allowed_relationship»
WITH hits, n, r
WHERE n IS NOT NULL OR r IS NOT NULL
UNWIND hits AS hit
WITH hit.note AS note, hit.similarity AS similarity, n, r
ORDER BY similarity DESC, note.entity_key
LIMIT $limit
RETURN collect({similarity: similarity, content: note.text, node: «_found_node», relationship: «relationship»}) AS matches
