// Renews the expiry of items that were read.
// Parameters: user_id; now; places [{path, key}].
// Rows: none.
UNWIND $places AS place
MATCH (i:«item» {user_id: $user_id, path: place.path, key: place.key})
WHERE «_live_item» AND i.ttl_minutes IS NOT NULL
SET i.expires_at = $now + duration({seconds: i.ttl_minutes * 60})
