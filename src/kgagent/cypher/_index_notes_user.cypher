// What the vector index of notes `n` filters by: the owner.
n.user_id = $user_id
