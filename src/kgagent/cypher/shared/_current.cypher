// Whether a relationship `r` holds on the day of the question, $filter.day, such as 20230204; what has no time always does.
(r.when_earliest IS NULL OR r.when_earliest <= $filter.day AND (r.`when` IS NULL OR r.when_latest >= $filter.day
  AND (r.when_periods IS NULL OR any(i IN range(0, size(r.when_periods) - 1, 2)
    WHERE r.when_periods[i] <= $filter.day AND r.when_periods[i + 1] >= $filter.day))))
