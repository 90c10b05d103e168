// Chooses the relationships `r` that start at a node `a` of a user.
a:«labels» AND a.user_id = $user_id
