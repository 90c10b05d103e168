// Whether an item `i` exists for reads: it is written and has not expired.
// A condition on whether it expires, instead of `coalesce`, would be planned as a search of all items that do.
i.value IS NOT NULL AND i.created_at IS NOT NULL AND i.updated_at IS NOT NULL AND coalesce(i.expires_at > $now, true)
