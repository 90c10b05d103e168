// Nodes with several relationships that may have one of some free types and have not ended.
// Parameters: user_id, null for all users; types [text], in plain form; day, such as 20230204.
// Rows: user_id; key; relationships [see relationship record].
WITH {types: $types} AS wanted
MATCH (n:«labels»)-[r:«types»]-(m)
WHERE ($user_id IS NULL OR n.user_id = $user_id) AND m.user_id = n.user_id
  AND (r.`when` IS NULL OR r.when_latest >= $day) AND «_has_one_value»
WITH n, collect(DISTINCT r) AS found
WHERE size(found) > 1
RETURN n.user_id AS user_id, n.entity_key AS key, [r IN found | «_relationship»] AS relationships
