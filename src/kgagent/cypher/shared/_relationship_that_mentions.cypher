// Chooses the relationships `r` from a node `a` of a user that mention a text in their notes.
a:«labels» AND a.user_id = $user_id AND r.notes CONTAINS $mentioned
