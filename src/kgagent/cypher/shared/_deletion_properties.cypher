// The properties that a deleted record has besides its own, removed from a map.
kgagent_labels: null, kgagent_neo4j_type: null, kgagent_from_entity_key: null, kgagent_to_entity_key: null,
kgagent_deletion: null, kgagent_deleted_at: null, kgagent_undo_until: null
