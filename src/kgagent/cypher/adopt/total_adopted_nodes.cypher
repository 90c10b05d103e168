// How many nodes were adopted, for whomever.
// Rows: one {found}.
MATCH (n)
WHERE n.kgagent_adopted IS NOT NULL
RETURN count(n) AS found
