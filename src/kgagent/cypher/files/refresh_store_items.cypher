// Renews the expiry of items that were read, unless another transaction has made them permanent or deleted them meanwhile.
// Each item is locked before its expiry is read; the property is removed again.
// Parameters: user_id; now; places [{path, key}].
// Rows: none.
UNWIND $places AS place
MATCH (i:«item» {user_id: $user_id, path: place.path, key: place.key})
SET i.write_lock = true
REMOVE i.write_lock
WITH i
WHERE size(labels(i)) > 0 AND «_live_item» AND i.ttl_minutes IS NOT NULL
SET i.expires_at = $now + duration({seconds: i.ttl_minutes * 60})
