// What the vector index of relationships `r` filters by: the owner and the days of $filter.between; see `_kept_relationship`.
«_index_user» AND r.when_earliest <= $filter.between.latest AND r.when_latest >= $filter.between.earliest
