// All relationships of a node of the user, including those of other programs.
// Parameters: user_id; key; types [text], those of the ontology; limit.
// Rows: is_own (whether kgagent manages it, between nodes of the user); neo4j_type; relationship, null if it is not.
MATCH (n:«labels» {entity_key: $key})
WHERE n.user_id = $user_id
MATCH (n)-[r]-(m)
WITH DISTINCT r, type(r) IN $types AND m:«labels» AND m.user_id = $user_id AND m.entity_key IS :: STRING NOT NULL
  AND coalesce(r.user_id, $user_id) = $user_id AS is_own
LIMIT $limit
«_relationship_lock»
WITH r, is_own
RETURN coalesce(is_own, false) AS is_own, type(r) AS neo4j_type, CASE WHEN is_own THEN «_relationship» END AS relationship
ORDER BY r.relationship_key, elementId(r)
