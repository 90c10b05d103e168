// Whether a relationship `r` from `a` to `b` is the user's: both nodes are, and it does not say otherwise.
a.user_id = $user_id AND b.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
