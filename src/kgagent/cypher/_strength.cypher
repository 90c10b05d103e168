// How strong a relationship `r` is: attitude and proximity together, 0 to 10; what is absent or no number counts 0.
coalesce(toIntegerOrNull(r.attitude), 0) + coalesce(toIntegerOrNull(r.proximity), 0)
