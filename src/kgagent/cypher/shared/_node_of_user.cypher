// Chooses the nodes `n` of a user.
n.user_id = $user_id
