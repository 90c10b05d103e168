// What the vector index of relationships `r` also filters by: the days of $filter.between; see `_kept_relationship`.
AND r.when_earliest <= $filter.between.latest AND r.when_latest >= $filter.between.earliest
