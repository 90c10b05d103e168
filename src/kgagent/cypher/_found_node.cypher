// A node `n` that a search found, as kgagent reads it. Its vector is never touched, and times come as text:
// both would cost more than the search. Its vector is known to have the length asked for.
{
  element_id: elementId(n), labels: labels(n),
  vector_length: $dimensions,
  properties: [key IN keys(n) WHERE key <> 'embedding' AND key <> 'ingestion_messages' |
    [key, CASE WHEN n[key] IS :: ZONED DATETIME THEN toString(n[key]) ELSE n[key] END]]
}
