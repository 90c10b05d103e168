// A relationship `r` of a path: vectors are not read, and times are converted to text.
{
  id: elementId(r), neo4j_type: type(r), start: elementId(startNode(r)), end: elementId(endNode(r)),
  properties: [key IN keys(r) WHERE NOT toLower(key) ENDS WITH 'embedding' |
    [key, head([value IN [r[key]] | CASE WHEN «_is_time» THEN toString(value) ELSE value END])]]
}
