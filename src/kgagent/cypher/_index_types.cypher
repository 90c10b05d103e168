// What the vector index of relationships `r` filters by: the owner and the free type.
«_index_user» AND r.relationship_type IN $relationship_types
