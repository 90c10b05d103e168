// A relationship `r` that a search found, without internal properties: element id, Neo4j type, keys and names of the two
// nodes, two empty lists in place of their labels (see _ranked_relationship), properties. A list, as names of fields would cost
// the client more than their values. Vectors are not read, and times are converted to text: both would cost more than the search.
// Null if another transaction has deleted it since it was matched, even while its fields were read.
head([found IN [[
  elementId(r), type(r), startNode(r).entity_key, endNode(r).entity_key, startNode(r).name, endNode(r).name, [], [],
  [key IN keys(r) WHERE NOT key IN ['heard_on', 'relationship_embedding', 'relation_embedding', 'notes_embedding',
      'description_embedding', 'embedding_hash', 'embedding_model', 'kgagent_adopted', 'kgagent_adopted_hashes', 'notes_text', 'statements_hash', 'when_earliest',
      'when_latest', 'when_periods', 'user_id', 'version', 'write_lock'] |
    [key, CASE WHEN r[key] IS :: ZONED DATETIME THEN toString(r[key]) ELSE r[key] END]]
]] WHERE found[1] IS NOT NULL AND found[2] IS NOT NULL AND found[3] IS NOT NULL])
