// Strength of a relationship `r`: attitude plus proximity, 0 to 10; absent and non-numeric values count 0.
coalesce(toIntegerOrNull(r.attitude), 0) + coalesce(toIntegerOrNull(r.proximity), 0)
