// A node `n` with all properties but its vector.
// Null if another transaction has deleted it since it was matched, even while its fields were read.
head([found IN [{
  element_id: elementId(n), labels: labels(n),
  vector_length: CASE WHEN n.«node_embedding» IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(n.«node_embedding») END,
  properties: n {.*, «node_embedding»: null}
}] WHERE size(found.labels) > 0 AND found.properties.entity_key IS NOT NULL])
