// Whether a relationship `r` has one of the ids $element_ids.
elementId(r) IN $element_ids
