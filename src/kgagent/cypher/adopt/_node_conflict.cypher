// Why a node `n` cannot be adopted, as [reason, name of a property]; null if it can, or if kgagent wrote or adopted it.
// Parameters: user_id; reserved_of_nodes [names]; shared_keys; unique [[label, name of a property that another program keeps unique]].
CASE WHEN n.user_id = $user_id AND (n.kgagent_adopted IS NOT NULL OR n.entity_key IS :: STRING NOT NULL) THEN null
ELSE head([name IN $reserved_of_nodes WHERE n[name] IS NOT NULL | ['needed', name]]
  + [name IN ['user_id'] WHERE coalesce(n.user_id, $user_id) <> $user_id | ['needed', name]]
  + [name IN ['entity_key', 'name'] WHERE NOT n[name] IS :: STRING | ['needed', name]]
  + [name IN ['entity_key'] WHERE n[name] IN $shared_keys | ['shared', name]]
  + [one IN $unique WHERE one[0] IN labels(n) AND n[one[1]] IS NULL | ['unique', one[1]]]) END
