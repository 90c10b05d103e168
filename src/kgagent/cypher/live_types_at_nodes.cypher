// What the user has of all types, found from the user's nodes of some labels. A relationship is found from its start,
// or from its end if the start has no label.
// Parameters: user_id; excluded [labels that the node must not have]; scan_limit (relationships of all types);
//   values_limit: as in live_type.
// Rows: type, and as in live_type, without a null pair.
MATCH (n:«labels»)
WHERE n.user_id = $user_id
MATCH (n)-[r]-()
WITH n, startNode(r) AS a, r, endNode(r) AS b
WHERE (n = a OR size(labels(a)) = 0) AND «_owned_relationship» AND none(label IN labels(n) WHERE label IN $excluded)
WITH a, r, b LIMIT $scan_limit
WITH type(r) AS type, [labels(a), labels(b)] AS pair, collect(r) AS found
WITH type, pair, size(found) AS count, found
«_distinct_keys»
RETURN type, pair, count, names, [r IN found[..$values_limit] | elementId(r)] AS element_ids
