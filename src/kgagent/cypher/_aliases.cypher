// The other names of a node `n`; of another program's property with that name none.
CASE WHEN n.aliases IS :: LIST<STRING NOT NULL> NOT NULL THEN n.aliases ELSE [] END
