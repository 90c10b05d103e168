// What the user has among the first relationships of a type, and how many others were passed over (`pair` is null).
// Parameters: user_id; scan_limit (relationships scanned); values_limit (relationships of a pair that are returned).
// Rows: pair [labels of the start, labels of the end] or null, count, names [text], element_ids [text].
MATCH (a)-[r:«types»]->(b)
WITH a, r, b LIMIT $scan_limit
WITH CASE WHEN «_owned_relationship» THEN [labels(a), labels(b)] END AS pair, collect(r) AS seen
WITH pair, size(seen) AS count, CASE WHEN pair IS NULL THEN [] ELSE seen END AS found
«_distinct_keys»
RETURN pair, count, names, [r IN found[..$values_limit] | elementId(r)] AS element_ids
