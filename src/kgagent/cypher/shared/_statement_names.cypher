// The names of the nodes `ends` joined by spaces, and then their spellings without accents.
reduce(names = '', word IN
  [end IN ends WHERE end.name IS :: STRING NOT NULL | end.name] +
  [text IN [end IN ends WHERE end.name IS :: STRING NOT NULL | end.name]
    WHERE NOT text =~ '\\p{ASCII}*' AND «_plain_text» <> toLower(text) | «_plain_text»] |
  names + CASE WHEN names = '' OR word = '' THEN word ELSE ' ' + word END)
