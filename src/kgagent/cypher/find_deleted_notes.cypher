// The notes of deleted relationships of the user with some keys that can still be restored, the latest deletion first.
// Parameters: user_id; keys [relationship keys]; now.
// Rows: key, deleted_at, notes (as stored).
MATCH (kept:«deleted»)
WHERE kept.user_id = $user_id AND kept.relationship_key IN $keys AND kept.kgagent_undo_until > $now
  AND kept.kgagent_deleted_at IS NOT NULL AND kept.notes IS NOT NULL
RETURN kept.relationship_key AS key, kept.kgagent_deleted_at AS deleted_at, kept.notes AS notes
ORDER BY deleted_at DESC
