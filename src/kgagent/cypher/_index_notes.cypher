// Brings the index of notes in line with the notes of `rows`, records that were written; `noted` of a row is null if its notes
// are indexed already.
// noted {record, keys (of all its notes), changed [{properties, vector or null for the one that is stored}]}.
CALL (rows) {
  UNWIND rows AS row
  WITH row.noted AS noted
  WHERE noted IS NOT NULL
  CALL (noted) {
    MATCH (entry:KgagentNote)
    WHERE entry.user_id = $user_id AND entry.record = noted.record AND NOT entry.entity_key IN noted.keys
    DELETE entry
  }
  UNWIND noted.changed AS note
  MERGE (entry:KgagentNote {user_id: $user_id, entity_key: note.properties.entity_key})
  SET entry += note.properties
  WITH entry, note
  WHERE note.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(entry, 'embedding', toFloatList(note.vector))
}
