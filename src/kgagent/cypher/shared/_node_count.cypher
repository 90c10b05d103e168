// The number of nodes `n`.
count(n) AS count
