// The free types of a relationship `r` as `plain_text` of `kgagent.names` gives them, with spaces between words; or null.
head([text IN [replace(replace(toStringOrNull(r.relationship_type), '_', ' '), '-', ' ')] | «_plain_text»])
