// The properties of a relationship `r` from `a` to `b` that show whether it is in the present form; without its vector.
// Of several of one type between two nodes, the tools use the one with a key, else on the first by id; the others are duplicates,
// except for those that got a key of their own when the graph was adopted.
elementId(r) AS element_id, type(r) AS neo4j_type,
[[labels(a), a.entity_key, a.user_id], [labels(b), b.entity_key, b.user_id]] AS ends,
r.relationship_embedding IS NOT NULL AS has_vector,
CASE WHEN r.relationship_embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(r.relationship_embedding) END AS vector_length,
r.relation_embedding IS NOT NULL OR r.notes_embedding IS NOT NULL OR r.description_embedding IS NOT NULL AS has_old_embeddings,
EXISTS {
  MATCH (a)-[other:«types»]-(b)
  WHERE type(other) = type(r) AND other <> r
    AND NOT coalesce(r.relationship_key STARTS WITH '#' OR other.relationship_key STARTS WITH '#', false) AND (
    (other.relationship_key IS NOT NULL AND r.relationship_key IS NULL)
    OR ((other.relationship_key IS NULL) = (r.relationship_key IS NULL) AND elementId(other) < elementId(r))
  )
} AS is_duplicate,
COLLECT {
  MATCH (entry:KgagentStatement) WHERE entry.user_id = a.user_id AND entry.record = r.relationship_key
  RETURN CASE WHEN entry.embedding IS NOT NULL THEN entry.embedding_model + ' ' + entry.embedding_hash END AS entry
} AS entries,
r {.relationship_type, .description, .attitude, .proximity, .`when`, .said_on, .created_at, .when_earliest, .when_latest, .when_periods,
  .notes, .history, .trust_class, .statements_hash, .notes_text, .user_id, .relationship_key, .version, .embedding_hash, .embedding_model, .is_reversed} AS properties
