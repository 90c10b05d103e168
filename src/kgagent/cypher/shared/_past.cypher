// Whether a relationship `r` had ended by the day of the question, $filter.day, such as 20230204; see `is_past`.
(r.`when` IS NOT NULL AND coalesce(r.when_latest < $filter.day, false))
