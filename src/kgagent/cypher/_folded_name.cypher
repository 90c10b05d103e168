// The name of a node `n` without spaces, invisible characters, letter case and compatibility forms, as `folded` in
// `graph/node_references.py`.
replace(replace(replace(replace(replace(replace(replace(
replace(replace(replace(replace(replace(replace(
  toLower(normalize(toStringOrNull(n.name), NFKC)), ' ', ''), '\t', ''), '\n', ''), '\r', ''), 'ß', 'ss'), 'ς', 'σ'),
  '\u00AD', ''), '\u200B', ''), '\u2060', ''), '\uFEFF', ''), '\u200C', ''), '\u200D', ''), '\uFE0F', '')
