// Whether a walk may follow a relationship `r`: all, or as of a day those that the filter keeps.
($filter.as_of IS NULL OR «_allowed_relationship»)
