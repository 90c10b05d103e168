// The place of the label of a node `m` in the ontology; of several labels the first.
reduce(first = null, label IN labels(m) | CASE
    WHEN $label_order[label] >= first THEN first
    ELSE coalesce($label_order[label], first)
  END)
