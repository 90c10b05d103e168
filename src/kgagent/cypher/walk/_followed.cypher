// Whether a traversal follows a relationship `r` of a node `from`: by the direction of its triplet and by its free type.
($outgoing = $incoming OR $outgoing = ((startNode(r) = from) <> coalesce(r.is_reversed = true, false)))
  AND ($relationship_types IS NULL OR r.relationship_type IN $relationship_types)
