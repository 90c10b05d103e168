// The user's nodes around some start nodes, breadth first over both directions, each with how far from the nearest start it is.
// A source is one number: depth * starts + position of the start; the least one is the nearest start, the first of several.
// Parameters: user_id; keys [text], of the start nodes; starts (their count); label_order {label: place}; depth, 0 to 5;
//   others (whether the second nearest start is told too); nodes (kept in all, the nearest; among those of one depth the
//   first by label order and key); node_neighbours (kept of one node's, start nodes before others, then by label order and
//   key); start_relationships, node_relationships (read at one start, and at one other node, in the database's own order).
// Rows: entity_key, label_order, reached_from [{start (position), depth}], nearest first; a start is reached from itself at 0.
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
