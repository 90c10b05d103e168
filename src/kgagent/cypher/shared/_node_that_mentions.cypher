// Chooses the nodes `n` of a user that mention a text in their notes.
n.user_id = $user_id AND n.notes CONTAINS $mentioned
