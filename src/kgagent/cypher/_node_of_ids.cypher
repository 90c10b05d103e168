// Whether a node `n` has one of the ids $element_ids.
elementId(n) IN $element_ids
