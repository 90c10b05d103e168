// The number of relationships `r`.
count(r) AS count
