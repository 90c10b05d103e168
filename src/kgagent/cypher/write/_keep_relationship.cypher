// Keeps the properties of a relationship `r`, described by `row`, in a node that no search reads.
CREATE (kept:«deleted»)
SET kept = properties(r)
SET kept += {
  user_id: $user_id, relationship_key: row.relationship_key, is_reversed: r.is_reversed,
  kgagent_neo4j_type: row.neo4j_type, kgagent_from_entity_key: row.from_entity_key, kgagent_to_entity_key: row.to_entity_key,
  kgagent_deletion: $deletion, kgagent_deleted_at: $now, kgagent_undo_until: $undo_until
}
REMOVE kept.statements_hash, kept.relation_embedding, kept.notes_embedding, kept.description_embedding
