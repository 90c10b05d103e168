// What the vector index of statements `n` also filters by: the days of the filter; see `_kept_statement`.
AND n.when_earliest <= $filter.last_day AND n.when_latest >= $filter.first_day
