// What the vector index of statements `n` also filters by: the free type.
AND n.relationship_type IN $relationship_types
