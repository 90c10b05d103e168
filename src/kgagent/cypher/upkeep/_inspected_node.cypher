// The properties of a node `n` that show whether it is in the present form; without its vector.
elementId(n) AS element_id, labels(n) AS labels, [[labels(n), n.entity_key, n.user_id]] AS ends,
n.«node_embedding» IS NOT NULL AS has_vector,
CASE WHEN n.«node_embedding» IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(n.«node_embedding») END AS vector_length,
COLLECT {
  MATCH (entry:KgagentStatement) WHERE entry.user_id = n.user_id AND entry.record = n.entity_key
  RETURN CASE WHEN entry.embedding IS NOT NULL THEN entry.embedding_model + ' ' + entry.embedding_hash END AS entry
} AS entries,
n {.name, .description, .aliases, .notes, .history, .said_on, .created_at, .source_text, .trust_class, .statements_hash, .notes_text, .user_id, .entity_key, .version, .embedding_hash, .embedding_model} AS properties
