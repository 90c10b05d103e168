// An entry of the index of notes, `hit.n`, with the node or relationship that has the note, if it is still the user's.
WITH hit, hit.n AS note
OPTIONAL MATCH (n:«labels» {entity_key: note.from_entity_key})
WHERE note.to_entity_key IS NULL AND n.user_id = $user_id
OPTIONAL MATCH (a:«labels» {entity_key: note.from_entity_key})-[r:«types»]-(b:«labels» {entity_key: note.to_entity_key})
WHERE type(r) = note.neo4j_type AND «_owned_relationship»
  AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
RETURN {similarity: hit.similarity, content: note.content, node: «_found_node», relationship: «relationship»}
