// Which of the nodes that notes name as their source a user does not have.
// Parameters: sources [{user_id, entity_key}].
// Rows: position of each that is missing.
UNWIND range(0, size($sources) - 1) AS position
WITH position, $sources[position] AS source
OPTIONAL MATCH (n:«labels» {entity_key: source.entity_key})
WHERE n.user_id = source.user_id
WITH position, count(n) AS found
WHERE found = 0
RETURN position
ORDER BY position
