// What the user has of a type, found from the user's nodes of some labels.
// Parameters: user_id; excluded [labels that the start must not have]; scan_limit, values_limit: as in live_type.
// Rows: as in live_type, without a null pair.
MATCH (a:«labels»)
WHERE a.user_id = $user_id
MATCH (a)-[r:«types»]->(b)
WITH a, r, b
WHERE «_owned_relationship» AND none(label IN labels(a) WHERE label IN $excluded)
WITH a, r, b LIMIT $scan_limit
WITH [labels(a), labels(b)] AS pair, collect(r) AS found
WITH pair, size(found) AS count, found
«_distinct_keys»
RETURN pair, count, names, [r IN found[..$values_limit] | elementId(r)] AS element_ids
