// A text `text`, or null, as `plain_text` of `kgagent.names` gives it: its words in lower case, without accents and
// invisible characters, joined by spaces.
reduce(plain = '', word IN split(
  CASE
    WHEN text =~ '\\p{ASCII}*' THEN toLower(text)
    ELSE reduce(letters = '', letter IN split(toLower(normalize(text, NFKD)), '') | letters + CASE
      WHEN letter < '\u0080' THEN letter
      WHEN letter =~ '[\u0300-\u036F\u0591-\u05C7\u0610-\u061A\u064B-\u065F\u0670\u00AD\u200B-\u200D\u2060\uFE0F\uFEFF]' THEN ''
      ELSE coalesce({
        `ß`: 'ss', `æ`: 'ae', `ð`: 'd', `ø`: 'o', `þ`: 'th', `đ`: 'd', `ħ`: 'h', `ı`: 'i', `ł`: 'l', `œ`: 'oe', `ς`: 'σ',
        `‘`: '\'', `’`: '\'', `ʼ`: '\''
      }[letter], letter)
    END)
  END, [' ', '\t', '\r', '\n', ',', ';', '.', '(', ')', '"', '/']) |
  plain + CASE WHEN plain = '' OR word = '' THEN word ELSE ' ' + word END)
