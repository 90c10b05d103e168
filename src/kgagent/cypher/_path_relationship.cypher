// A relationship `r` of a path, as kgagent reads it: no vector is touched, and times come as text.
{
  id: elementId(r), neo4j_type: type(r), start: elementId(startNode(r)), end: elementId(endNode(r)),
  properties: [key IN keys(r) WHERE NOT toLower(key) ENDS WITH 'embedding' |
    [key, head([value IN [r[key]] | CASE WHEN «_is_time» THEN toString(value) ELSE value END])]]
}
