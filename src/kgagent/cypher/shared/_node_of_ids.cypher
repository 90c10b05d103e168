// Chooses nodes `n` by their ids $element_ids, of a user or of every user.
elementId(n) IN $element_ids AND ($user_id IS NULL OR n.user_id = $user_id)
