// The properties of a node or relationship `record` without embeddings, as [name, value]; long texts are cut at `text_limit`.
[name IN keys(record) WHERE NOT record[name] IS :: LIST<FLOAT NOT NULL> NOT NULL |
  [name, CASE WHEN record[name] IS :: STRING NOT NULL THEN left(record[name], $text_limit) ELSE record[name] END]]
