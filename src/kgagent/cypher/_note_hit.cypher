// The best of the entries `note` of the index of notes, which come in order of their `similarity`, each with the node or relationship
// that has the note, if it is still the user's and the filter keeps it.
OPTIONAL MATCH (n:«labels» {entity_key: note.from_entity_key})
WHERE note.to_entity_key IS NULL AND n.user_id = $user_id
  AND ($filter.labels IS NULL OR any(label IN labels(n) WHERE label IN $filter.labels))
OPTIONAL MATCH (a:«labels» {entity_key: note.from_entity_key})-[r:«types»]-(b:«labels» {entity_key: note.to_entity_key})
WHERE type(r) = note.neo4j_type AND «_owned_relationship» AND «_allowed_relationship»
WITH note, similarity, n, r
WHERE n IS NOT NULL OR r IS NOT NULL
WITH note, similarity, n, r
ORDER BY similarity DESC, note.entity_key
LIMIT $limit
RETURN collect({similarity: similarity, content: note.content, node: «_found_node», relationship: «relationship»}) AS matches
