// Purges some of the deleted records, of any user, that can no longer be restored.
CALL () {
  MATCH (expired:«all_deleted»)
  WHERE expired.kgagent_undo_until <= $now
  WITH expired
  LIMIT 100
  DETACH DELETE expired
}
