// An item `i` as reads return it.
i.namespace AS namespace, i.path AS path, i.key AS key, i.value AS value, i.created_at AS created_at,
i.updated_at AS updated_at, i.ttl_minutes IS NOT NULL AS has_ttl
