// A node `n` of a path: vectors are not read, and times are converted to text.
{
  id: elementId(n), entity_key: n.entity_key, name: n.name, labels: labels(n),
  properties: [key IN keys(n) WHERE NOT toLower(key) ENDS WITH 'embedding' |
    [key, head([value IN [n[key]] | CASE WHEN «_is_time» THEN toString(value) ELSE value END])]]
}
