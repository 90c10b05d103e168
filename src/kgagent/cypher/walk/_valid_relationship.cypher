// Whether a walk may follow a relationship `r`: all, or of another time those that the filter keeps.
(NOT $filter.is_of_other_time OR «_allowed_relationship»)
