// What is kept of deleted records of the user that a file may have too.
// Parameters: user_id; texts [times of deletion]; omitted [names of properties].
// Rows: record, see the fragment.
MATCH (n:«all_deleted»)
WHERE n.user_id = $user_id AND toStringOrNull(n.kgagent_deleted_at) IN $texts
RETURN «_exported_node» AS record
