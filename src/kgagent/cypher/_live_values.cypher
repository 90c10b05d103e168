// What kinds of values nodes or relationships `one` hold: one row a property and kind.
// A text is returned if it is short; a text that begins like JSON if it is short enough to parse.
UNWIND keys(one) AS key
WITH one, key
WHERE NOT key IN $hidden AND NOT toLower(key) ENDS WITH 'embedding'
WITH key, one[key] AS value
WITH key, value, CASE
    WHEN NOT value IS :: STRING NOT NULL THEN valueType(value)
    WHEN left(ltrim(left(value, 100)), 1) IN ['{', '['] THEN 'JSON'
    ELSE 'STRING'
  END AS kind
WITH key, kind,
  CASE WHEN kind = 'STRING' AND size(value) <= $text_limit OR kind = 'JSON' AND size(value) <= $json_limit THEN value END AS text,
  count(*) AS times
ORDER BY times DESC, text
WITH key, kind, sum(times) AS times, collect([text, times])[..$texts_limit + 1] AS texts
RETURN key AS name, kind, times, texts
