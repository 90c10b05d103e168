// Keys of the user's other nodes that begin like some keys.
// Parameters: user_id; asked {keys [text]}; length (of the beginning); most (of each key).
// Rows: key, others [text].
UNWIND $asked.keys AS key
CALL (key) {
  MATCH (n:«labels»)
  WHERE n.entity_key STARTS WITH left(key, $length) AND n.user_id = $user_id AND n.entity_key <> key
  WITH n
  LIMIT $most
  RETURN collect(n.entity_key) AS others
}
RETURN key, others
