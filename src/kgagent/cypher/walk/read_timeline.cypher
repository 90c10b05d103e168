// Relationships of a node that have a time or notes.
// Parameters: user_id; filter; entity_key; read_limit (relationships read).
// Rows: relationship; other {entity_key, labels}, the node that it joins to the given one.
MATCH (from:«labels» {entity_key: $entity_key})
WHERE from.user_id = $user_id
«_steps»
  AND (r.`when` IS NOT NULL OR r.said_on IS NOT NULL OR r.notes IS NOT NULL)
RETURN «_found_relationship» AS relationship, {entity_key: n.entity_key, labels: labels(n)} AS other
ORDER BY n.entity_key, r.relationship_key
