// A relationship `r` of a path, as kgagent reads it: no vector is touched, and times come as text.
{
  id: elementId(r), neo4j_type: type(r), start: elementId(startNode(r)), end: elementId(endNode(r)),
  properties: [key IN keys(r) WHERE NOT toLower(key) ENDS WITH 'embedding' |
    [key, CASE WHEN r[key] IS :: ZONED DATETIME THEN toString(r[key]) ELSE r[key] END]]
}
