// Deletes some of what is kept for longer than it can be restored, if the statement has deleted something.
CALL (deleted) {
  WITH deleted
  WHERE deleted > 0
  MATCH (over:«all_deleted»)
  WHERE over.user_id = $user_id AND over.kgagent_undo_until < $now
  WITH over
  LIMIT $purge_limit
  DELETE over
}
