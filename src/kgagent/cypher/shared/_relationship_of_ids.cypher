// Chooses relationships `r` by their ids $element_ids, of a user or of every user.
elementId(r) IN $element_ids AND ($user_id IS NULL OR a.user_id = $user_id)
