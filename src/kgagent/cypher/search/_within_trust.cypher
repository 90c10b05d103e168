// What the vector index of statements `n` also filters by: the least class, a number; see `_kept_statement`.
AND n.trust >= $filter.min_trust
