// The name of a node `n` without spaces, letter case and compatibility forms, as `folded` in `graph/node_references.py`.
replace(replace(replace(replace(replace(replace(
  toLower(normalize(toStringOrNull(n.name), NFKC)), ' ', ''), '\t', ''), '\n', ''), '\r', ''), 'ß', 'ss'), 'ς', 'σ')
