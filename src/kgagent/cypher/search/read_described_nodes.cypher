// All nodes of the user with what tells them apart.
// Parameters: user_id; text_length (characters of a description and of notes); neighbor_limit (neighbors of a node).
// Rows: entity_key, labels, name, aliases, description, notes, neighbors [entity keys].
MATCH (n:«labels»)
WHERE n.user_id = $user_id AND n.entity_key IS :: STRING NOT NULL
RETURN n.entity_key AS entity_key, labels(n) AS labels, coalesce(toStringOrNull(n.name), '') AS name, «_aliases» AS aliases,
  coalesce(left(toStringOrNull(n.description), $text_length), '') AS description,
  coalesce(left(toStringOrNull(n.notes_text), $text_length), '') AS notes,
  COLLECT {
    MATCH (n)-[r:«types»]-(m:«labels»)
    WHERE m.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id AND m.entity_key IS :: STRING NOT NULL AND m <> n
    RETURN DISTINCT m.entity_key LIMIT $neighbor_limit
  } AS neighbors
ORDER BY entity_key
