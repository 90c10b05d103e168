// The properties that what is kept of a record has besides those of the record, removed from a map.
kgagent_labels: null, kgagent_neo4j_type: null, kgagent_from_entity_key: null, kgagent_to_entity_key: null,
kgagent_deletion: null, kgagent_deleted_at: null, kgagent_undo_until: null,
kgagent_merged_into: null, kgagent_written: null, kgagent_stays: null
