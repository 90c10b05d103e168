// The id of a node `n`.
elementId(n) AS element_id
