// How many records of other programs tools have deleted or merged that can be restored.
// Parameters: user_id (for whom they were adopted); now.
// Rows: one {found}.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id AND n.kgagent_adopted IS NOT NULL AND n.kgagent_undo_until > $now
RETURN count(n) AS found
