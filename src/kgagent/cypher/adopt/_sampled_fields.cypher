// The properties of a node or relationship `record` that may describe it, as [name, value]; not what adopting it has added.
[name IN keys(record) WHERE NOT name IN $omitted + coalesce(record.kgagent_adopted, []) AND (record[name] IS :: STRING NOT NULL
    OR record[name] IS :: LIST<STRING NOT NULL> NOT NULL OR record[name] IS :: INTEGER NOT NULL) |
  [name, CASE WHEN record[name] IS :: STRING NOT NULL THEN left(record[name], $text_limit) ELSE record[name] END]]
