// Whether the filter of a search keeps an entry `n` of the index of statements: it is no passage if $filter.sources is false, has not expired by $filter.now, is trusted by $filter.min_trust (0 to 2), does not begin
// after $filter.as_of, was known by $filter.known_as_of (when the days of a record itself may have been others), and overlaps $filter.between, a note with a period that has begun by then ($filter.last_day); see
// `_kept_relationship`. The days of an entry without a time are 0 and -1: it began long ago, and overlaps nothing.
(n.is_passage IS NULL OR coalesce($filter.sources, true))
  AND (n.expires_at IS NULL OR n.expires_at > $filter.now)
  AND ($filter.min_trust IS NULL OR coalesce(n.trust, 2) >= $filter.min_trust)
  AND ($filter.known_as_of IS NULL OR coalesce(n.known_since, 0) <= $filter.known_as_of.latest)
  AND ($filter.as_of IS NULL OR $filter.known_as_of IS NOT NULL AND n.is_record OR coalesce(n.when_earliest, 0) <= $filter.as_of.latest)
  AND ($filter.between IS NULL OR
    n.when_earliest <= $filter.last_day AND n.when_latest >= $filter.between.earliest
      AND (n.when_periods IS NULL OR any(i IN range(0, size(n.when_periods) - 1, 2)
        WHERE n.when_periods[i] <= CASE WHEN n.is_record THEN $filter.between.latest ELSE $filter.last_day END AND n.when_periods[i + 1] >= $filter.between.earliest)))
