// Items of a user by namespace and key.
// Parameters: user_id; now; places [{path, key}].
// Rows: position in places, and the item, for each that exists.
UNWIND range(0, size($places) - 1) AS position
WITH position, $places[position] AS place
MATCH (i:«item» {user_id: $user_id, path: place.path, key: place.key})
WHERE «_live_item»
RETURN position, «_store_item»
