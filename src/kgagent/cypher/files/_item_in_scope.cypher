// Whether an item `i` is the user's, in a namespace that begins with the prefix, and live. The condition on the key lets the
// index of the unique keys serve the others.
i.user_id = $user_id AND i.path STARTS WITH $prefix AND i.key IS NOT NULL AND «_live_item»
