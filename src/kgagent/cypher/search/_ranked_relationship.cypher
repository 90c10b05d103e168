// A relationship `r` with the fields that ranking and expansion need, in the order of `_found_relationship.cypher`; results are
// read in full later; of another time, with what tells what it was then, and with what tells whether its time was a plan. Null if another transaction has deleted it since it was matched, even while its fields were read.
head([found IN [[
  elementId(r), type(r), startNode(r).entity_key, endNode(r).entity_key, startNode(r).name, endNode(r).name,
  labels(startNode(r)), labels(endNode(r)),
  [['relationship_key', r.relationship_key], ['relationship_type', r.relationship_type], ['is_reversed', r.is_reversed],
   ['attitude', r.attitude], ['proximity', r.proximity], ['when', r.`when`]] +
    CASE WHEN $filter.is_of_other_time OR r.said_on IS NOT NULL AND r.`when` IS NOT NULL THEN [['said_on', r.said_on], ['created_at', r.created_at], ['history', r.history]] ELSE [] END
]] WHERE found[1] IS NOT NULL AND found[2] IS NOT NULL AND found[3] IS NOT NULL])
