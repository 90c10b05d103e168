// What the vector index of relationships `r` also filters by: the free type.
AND r.relationship_type IN $relationship_types
