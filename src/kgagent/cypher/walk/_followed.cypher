// Whether a traversal follows a relationship `r` of a node `from`: by the direction of its triplet and by its free type; of another time, the
// filter decides
// about that.
($outgoing = $incoming OR $outgoing = ((startNode(r) = from) <> coalesce(r.is_reversed = true, false)))
  AND ($filter.is_of_other_time OR $filter.relationship_types IS NULL OR r.relationship_type IN $filter.relationship_types)
