// What the user has of a label.
// Parameters: user_id; count_limit (nodes counted, plus one); names_limit (nodes with property names);
//   values_limit (nodes returned).
// Rows: one {count, names [text], element_ids [text]}.
MATCH (n:«label»)
WHERE n.user_id = $user_id
WITH n LIMIT $count_limit + 1
WITH collect(n) AS owned
WITH size(owned) AS count, owned[..$names_limit] AS found
«_distinct_keys»
RETURN count, names, [n IN found[..$values_limit] | elementId(n)] AS element_ids
