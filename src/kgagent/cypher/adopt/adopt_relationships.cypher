// Adds properties to relationships without a key, or changes those that adopting them added. A relationship that has got a
// property of such a name meanwhile is omitted.
// Parameters: user_id; rows [{element_id, properties, before (the values that were read of them)}].
// Rows: one {written}.
UNWIND $rows AS row
MATCH ()-[r:«types»]->()
WHERE elementId(r) = row.element_id
«_relationship_lock»
WITH r, row
WHERE startNode(r).user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
  AND all(name IN keys(row.properties) WHERE coalesce(r[name] = row.before[name], r[name] IS NULL AND row.before[name] IS NULL))
SET r.version = r.version + 1, r += row.properties
RETURN count(*) AS written
