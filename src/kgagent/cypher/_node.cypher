// A node `n` as kgagent reads it: everything but its vector and what a model said while it read a source.
{
  element_id: elementId(n), labels: labels(n),
  vector_length: CASE WHEN n.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(n.embedding) END,
  properties: n {.*, embedding: null, ingestion_messages: null}
}
