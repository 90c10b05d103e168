// A node `n` with all properties but its vector and the messages of ingestion.
{
  element_id: elementId(n), labels: labels(n),
  vector_length: CASE WHEN n.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(n.embedding) END,
  properties: n {.*, embedding: null, ingestion_messages: null}
}
