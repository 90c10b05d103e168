// A node `n` with all properties but those named in `omitted`, each as [name, type, value]; dates and times as text, since
// the driver's types do not hold all of them. Null if another transaction has deleted it since it was matched.
CASE WHEN size(labels(n)) > 0 THEN {
  element_id: elementId(n), labels: labels(n),
  properties: [name IN keys(n) WHERE NOT name IN $omitted | [name, valueType(n[name]), CASE
    WHEN n[name] IS :: «_time_type» THEN toString(n[name])
    WHEN NOT n[name] IS :: LIST<ANY> THEN n[name]
    WHEN n[name][0] IS :: «_time_type» THEN [item IN n[name] | toString(item)]
    ELSE n[name]
  END]]
} END
