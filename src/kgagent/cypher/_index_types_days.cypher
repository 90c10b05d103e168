// What the vector index of relationships `r` filters by: the owner, the free type and the days of $filter.between.
«_index_types» AND r.when_earliest <= $filter.between.latest AND r.when_latest >= $filter.between.earliest
