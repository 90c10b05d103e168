// Whether the free types of a relationship `r` may list one of `wanted.types`, in lower case, with spaces between words.
any(type IN wanted.types
  WHERE replace(replace(replace(toLower(r.relationship_type), '_', ' '), '-', ' '), 'ß', 'ss') CONTAINS type)
