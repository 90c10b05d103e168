// A node `n` with all properties but those named in `omitted`, each as [name, type, value]: dates and times as text with their
// type, since the driver's types do not hold all of them, others without. Null if another transaction has deleted it since it
// was matched.
CASE WHEN size(labels(n)) > 0 THEN {
  element_id: elementId(n), labels: labels(n),
  properties: [name IN keys(n) WHERE NOT name IN $omitted | CASE
    WHEN n[name] IS :: «_time_type» THEN [name, valueType(n[name]), toString(n[name])]
    WHEN NOT n[name] IS :: LIST<ANY> THEN [name, null, n[name]]
    WHEN n[name][0] IS :: «_time_type» THEN [name, valueType(n[name]), [item IN n[name] | toString(item)]]
    ELSE [name, null, n[name]]
  END]
} END
