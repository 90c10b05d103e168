// Brings the index of statements in line with the records of `written` [{row (the parameter), record (node or relationship), ends (the
// nodes that its entries name: the node, or both ends of the relationship in its direction)}].
// `stated` of a row is null if its statements are indexed already, else {record, keys (of all its entries), is_renamed (whether other
// entries may have an earlier name of it), changed [{properties, vector or null for the one that is stored, has_vector_of_record
// (whether it gets the vector of the record)}]}.
// The names are read when the entry is locked: if a concurrent change of a name has changed the entry, they are the new ones.
// The section of a passage stands behind them, unless the text has it.
CALL (written) {
  UNWIND written AS one
  WITH one.row.stated AS stated, one.record AS record, one.ends AS ends
  WHERE stated IS NOT NULL
  CALL (stated) {
    MATCH (entry:KgagentStatement)
    WHERE entry.user_id = $user_id AND entry.record = stated.record AND NOT entry.entity_key IN stated.keys
    DELETE entry
  }
  UNWIND stated.changed AS change
  MERGE (entry:KgagentStatement {user_id: $user_id, entity_key: change.properties.entity_key})
  SET entry += change.properties
  SET entry.names = «_statement_names» + CASE WHEN entry.section IS NULL OR entry.text CONTAINS entry.section THEN '' ELSE ' ' + entry.section END
  WITH entry, CASE
      WHEN change.has_vector_of_record THEN coalesce(record.relationship_embedding, record.«node_embedding»)
      ELSE change.vector
    END AS vector
  WHERE vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(entry, 'embedding', toFloatList(vector))
}
