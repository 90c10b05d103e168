// Whether the filter of a search keeps a relationship `r`: it is allowed, has a statement trusted by $filter.min_trust (0 to 2) unless that is
// null, and its own time overlaps $filter.between {earliest, latest}
// (days such as 20230204; what has no time never does), unless that is null.
«_allowed_relationship»
  AND ($filter.min_trust IS NULL OR EXISTS {
    MATCH (trusted:KgagentStatement)
    WHERE trusted.user_id = $user_id AND trusted.record = r.relationship_key AND trusted.trust >= $filter.min_trust
  })
  AND ($filter.between IS NULL OR
    r.when_earliest <= $filter.between.latest AND r.when_latest >= $filter.between.earliest
      AND (r.when_periods IS NULL OR any(i IN range(0, size(r.when_periods) - 1, 2)
        WHERE r.when_periods[i] <= $filter.between.latest AND r.when_periods[i + 1] >= $filter.between.earliest)))
