// A node `n` that a search found, without internal properties: element id, labels, properties. A list, as names of fields would
// cost the client more than their values. Vectors are not read, and times are converted to text: both would cost more than
// the search.
// Null if another transaction has deleted it since it was matched, even while its fields were read.
head([found IN [[
  elementId(n), labels(n),
  [key IN keys(n) WHERE NOT key IN ['embedding', 'embedding_hash', 'embedding_model', 'ingestion_progress', 'ingestion_run', 'kgagent_adopted', 'kgagent_adopted_hashes', 'kgagent_embedding',
      'notes_text', 'source_text', 'statements_hash', 'user_id', 'version', 'write_lock'] |
    [key, CASE WHEN n[key] IS :: ZONED DATETIME THEN toString(n[key]) ELSE n[key] END]]
]] WHERE size(found[1]) > 0 AND any(field IN found[2] WHERE field[0] = 'entity_key')])
