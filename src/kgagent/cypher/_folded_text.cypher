// A name or another name `text` without spaces, invisible characters, letter case and compatibility forms, as `folded` in
// `graph/reference_forms.py`.
replace(replace(replace(replace(replace(replace(replace(
replace(replace(replace(replace(replace(replace(
  toLower(normalize(toStringOrNull(text), NFKC)), ' ', ''), '\t', ''), '\n', ''), '\r', ''), 'ß', 'ss'), 'ς', 'σ'),
  '\u00AD', ''), '\u200B', ''), '\u2060', ''), '\uFEFF', ''), '\u200C', ''), '\u200D', ''), '\uFE0F', '')
