// Both nodes of a relationship `r` in its direction.
CASE WHEN r.is_reversed = true THEN [endNode(r), startNode(r)] ELSE [startNode(r), endNode(r)] END
