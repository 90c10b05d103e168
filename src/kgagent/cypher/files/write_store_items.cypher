// Deletes items of a user, purges some that have expired, and stores items, each in place of the one with its namespace and key.
// Each item is locked before its texts and, under another name because values of an index are not read again, its expiry are read:
// what another transaction has stored meanwhile is not purged. The property is removed again.
// Parameters: user_id; now; model; deleted [{path, key}]; items [{path, namespace, key, value (JSON), ttl_minutes, expires_at
//   (both may be null), texts [{text, hash, vector}]}].
// Rows: path and key of each item that was stored; one that another transaction deleted meanwhile is missing.
CALL () {
  UNWIND $deleted AS place
  MATCH (i:«item» {user_id: $user_id, path: place.path, key: place.key})
  RETURN i
  UNION
  MATCH (i:«item»)
  WHERE i.user_id = $user_id AND i.expires_at <= $now
  RETURN i
  LIMIT 100
}
CALL (i) {
  SET i.write_lock = true
  REMOVE i.write_lock
}
MATCH (old:«item»)
WHERE elementId(old) = elementId(i) AND (old.expires_at <= $now OR {path: old.path, key: old.key} IN $deleted)
CALL (old) {
  OPTIONAL MATCH (n:«text» {user_id: $user_id, path: old.path, key: old.key})
  DETACH DELETE n
}
DETACH DELETE old
WITH count(*) AS deleted
UNWIND $items AS item
MERGE (i:«item» {user_id: $user_id, path: item.path, key: item.key})
SET i.created_at = CASE WHEN i.expires_at <= $now THEN $now ELSE coalesce(i.created_at, $now) END
SET i += {
  namespace: item.namespace, value: item.value, updated_at: $now, ttl_minutes: item.ttl_minutes, expires_at: item.expires_at
}
WITH i, item
WHERE size(labels(i)) > 0
CALL (item) {
  OPTIONAL MATCH (old:«text» {user_id: $user_id, path: item.path, key: item.key})
  DETACH DELETE old
}
CALL (item) {
  UNWIND item.texts AS text
  CREATE (n:«text» {
    user_id: $user_id, path: item.path, key: item.key, text: text.text, embedding_hash: text.hash, embedding_model: $model
  })
  WITH n, text
  CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(text.vector))
}
RETURN item.path AS path, item.key AS key
