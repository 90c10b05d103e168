// Whether a node or relationship `record` was adopted for the user; `owner` is the fingerprint of the user_id.
record.user_id = $user_id AND record.kgagent_adopted IS NOT NULL OR $owner IN record.kgagent_adopted_hashes
