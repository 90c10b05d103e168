// The user's nodes around start nodes, breadth first in both directions, each with its distance from the nearest start.
// A source is one number: depth * starts + position of the start; the smallest is the nearest start, or the first of several.
// Parameters: user_id; keys [text] of the start nodes; starts (their number); label_order {label: position}; depth, 0 to 5;
//   nodes (maximum number of nodes: the nearest, then the first by label order and key); node_neighbors (maximum number of neighbors of a node: start nodes first, then by label order and key);
//   start_relationships, node_relationships (relationships read at a start, and at another node, in the order of the database).
// Rows: entity_key, label_order, reached_from [{start (position), depth}], the nearest one or two first; a start reaches itself at depth 0.
UNWIND range(0, $starts - 1) AS position
MATCH (start:«labels» {entity_key: $keys[position]})
WHERE start.user_id = $user_id
WITH start AS n, [min(position)] AS sources, 0 AS level
«_breadth_first_level»
«_breadth_first_level»
«_breadth_first_level»
«_breadth_first_level»
«_breadth_first_level»
WITH n AS m, sources
RETURN m.entity_key AS entity_key, «_label_order» AS label_order,
  [source IN sources | {start: source % $starts, depth: source / $starts}] AS reached_from
