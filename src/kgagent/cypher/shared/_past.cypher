// Whether a relationship `r` does not hold on the day of the question, $filter.day, such as 20230204; see `holds`. As of another time, all
// that the filter keeps does.
($filter.as_of IS NULL AND r.`when` IS NOT NULL AND coalesce(
  any(days IN [coalesce(r.when_periods, [r.when_earliest, r.when_latest])] WHERE
    CASE
      WHEN all(i IN range(0, size(days) - 1, 2) WHERE days[i] = days[i + 1]) THEN days[0] > $filter.day
      ELSE none(i IN range(0, size(days) - 1, 2) WHERE days[i] <= $filter.day AND days[i + 1] >= $filter.day)
    END), false))
