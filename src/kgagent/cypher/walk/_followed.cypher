// Whether a traversal follows a relationship `r` of a node `from`: by the direction of its triplet and by its free type; as of a day, the
// filter decides
// about that.
($outgoing = $incoming OR $outgoing = ((startNode(r) = from) <> coalesce(r.is_reversed = true, false)))
  AND ($filter.as_of IS NOT NULL OR $filter.relationship_types IS NULL OR r.relationship_type IN $filter.relationship_types)
