// The other names of a node `n`; of another program's property with that name none.
// coalesce: another transaction may remove them after the type was read.
coalesce(CASE WHEN n.aliases IS :: LIST<STRING NOT NULL> NOT NULL THEN n.aliases END, [])
