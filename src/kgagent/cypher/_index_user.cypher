// What the vector index of relationships `r` filters by: the owner.
r.user_id = $user_id
