// The user's relationships by element id, with both nodes.
// Parameters: user_id; relationships [element ids].
// Rows: element_id, relationship, nodes [{element_id, labels, entity_key, name}] of start and end.
UNWIND $relationships AS wanted
MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
WHERE elementId(r) = wanted
WITH wanted, a, r, b
WHERE «_owned_relationship»
RETURN wanted AS element_id, «_relationship» AS relationship,
  [n IN [a, b] | {element_id: elementId(n), labels: labels(n), entity_key: n.entity_key, name: n.name}] AS nodes
