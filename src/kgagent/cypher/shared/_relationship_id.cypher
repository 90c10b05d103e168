// The id of a relationship `r`.
elementId(r) AS element_id
