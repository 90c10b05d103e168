// Adds properties to nodes without an owner, or changes those that adopting them added. A node that has got a property of such a
// name meanwhile is omitted.
// Parameters: user_id; rows [{element_id, properties, before (the values that were read of them)}].
// Rows: one {written}.
UNWIND $rows AS row
MATCH (n:«labels»)
WHERE elementId(n) = row.element_id
«_node_lock»
WITH n, row
WHERE coalesce(n.user_id, $user_id) = $user_id
  AND all(name IN keys(row.properties) WHERE coalesce(n[name] = row.before[name], n[name] IS NULL AND row.before[name] IS NULL))
SET n.version = n.version + 1, n += row.properties
RETURN count(*) AS written
