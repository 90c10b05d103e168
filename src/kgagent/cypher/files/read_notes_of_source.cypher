// Notes, as stored, of the user's nodes and relationships that name a source; most recently written first.
// Parameters: user_id; text, the JSON-escaped key of the source; limit, of records.
// Rows: notes.
CALL () {
  MATCH (n:«labels»)
  WHERE n.user_id = $user_id AND n.notes CONTAINS $text
  RETURN n.notes AS notes, n.updated_at AS written
  UNION ALL
  MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
  WHERE a.user_id = $user_id AND b.user_id = $user_id AND coalesce(r.user_id, $user_id) = $user_id
    AND r.notes CONTAINS $text
  RETURN r.notes AS notes, r.updated_at AS written
}
RETURN notes
ORDER BY written DESC
LIMIT $limit
