// The names of the properties that nodes or relationships `records` have, and what kinds of values some of them hold; of texts,
// those that are short, the most frequent first.
// Parameters: names_limit (records whose property names are read), values_limit (records whose values are read); hidden [names of
//   properties]; text_limit (characters of a text that is returned); texts_limit (different texts of a property, plus one).
// Adds: names [text], values [{name, kind, times, texts [[text or null, times]]}].
CALL (records) {
  UNWIND records[..$names_limit] AS record
  UNWIND keys(record) AS key
  RETURN collect(DISTINCT key) AS names
}
CALL (records) {
  UNWIND records[..$values_limit] AS record
  UNWIND keys(record) AS key
  WITH record, key
  WHERE NOT key IN $hidden AND NOT toLower(key) ENDS WITH 'embedding'
  WITH key, record[key] AS value
  WITH key, value, CASE
      WHEN NOT value IS :: STRING NOT NULL THEN valueType(value)
      WHEN left(ltrim(left(value, 100)), 1) + right(rtrim(right(value, 100)), 1) IN ['{}', '[]'] THEN 'JSON'
      ELSE 'STRING'
    END AS kind
  WITH key, kind, CASE WHEN kind = 'STRING' AND size(value) <= $text_limit THEN value END AS text, count(*) AS times
  ORDER BY times DESC, text
  WITH key, kind, sum(times) AS times, collect([text, times])[..$texts_limit + 1] AS texts
  RETURN collect({name: key, kind: kind, times: times, texts: texts}) AS values
}
