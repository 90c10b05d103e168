// Whether the filter of a search may keep a relationship `r` that has a statement, whatever its own time of `between` is. $filter
// {relationship_types, neo4j_types, labels [text] (an end has one of them), min_attitude, max_attitude, min_proximity, max_proximity (1 to 5),
// as_of, known_as_of {earliest, latest} (days such as 20230204; what has no time is always valid)}; each null if it keeps all.
// Of another time than the present ($filter.is_of_other_time), one with a history may be kept: the client decides, who puts the record of
// that time together.
($filter.neo4j_types IS NULL OR type(r) IN $filter.neo4j_types)
  AND ($filter.labels IS NULL OR any(label IN labels(startNode(r)) + labels(endNode(r)) WHERE label IN $filter.labels))
  AND ($filter.known_as_of IS NULL OR NOT EXISTS {
    MATCH (s:KgagentStatement)
    WHERE s.user_id = $user_id AND s.record = r.relationship_key AND s.is_record AND s.known_since > $filter.known_as_of.latest
  })
  AND ($filter.is_of_other_time AND r.history IS NOT NULL OR
    ($filter.relationship_types IS NULL OR r.relationship_type IN $filter.relationship_types)
      AND ($filter.min_attitude IS NULL OR r.attitude >= $filter.min_attitude)
      AND ($filter.max_attitude IS NULL OR r.attitude <= $filter.max_attitude)
      AND ($filter.min_proximity IS NULL OR r.proximity >= $filter.min_proximity)
      AND ($filter.max_proximity IS NULL OR r.proximity <= $filter.max_proximity)
      AND ($filter.as_of IS NULL OR r.when_earliest IS NULL OR
        r.when_earliest <= $filter.as_of.latest AND (r.`when` IS NULL OR r.when_latest >= $filter.as_of.earliest
          AND (r.when_periods IS NULL OR any(i IN range(0, size(r.when_periods) - 1, 2)
            WHERE r.when_periods[i] <= $filter.as_of.latest AND r.when_periods[i + 1] >= $filter.as_of.earliest)))))
