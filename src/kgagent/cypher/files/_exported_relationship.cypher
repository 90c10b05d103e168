// A relationship `r` with all properties but those named in `omitted`; see the fragment for nodes.
CASE WHEN type(r) IS NOT NULL THEN {
  element_id: elementId(r), neo4j_type: type(r),
  from_labels: labels(startNode(r)), from_entity_key: startNode(r).entity_key,
  to_labels: labels(endNode(r)), to_entity_key: endNode(r).entity_key,
  properties: [name IN keys(r) WHERE NOT name IN $omitted | CASE
    WHEN r[name] IS :: «_time_type» THEN [name, valueType(r[name]), toString(r[name])]
    WHEN NOT r[name] IS :: LIST<ANY> THEN [name, null, r[name]]
    WHEN r[name][0] IS :: «_time_type» THEN [name, valueType(r[name]), [item IN r[name] | toString(item)]]
    ELSE [name, null, r[name]]
  END]
} END
