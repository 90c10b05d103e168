// What the vector index of statements `n` also filters by: the free type, which is empty for the statements of nodes.
AND n.relationship_type IN $relationship_types + ['']
