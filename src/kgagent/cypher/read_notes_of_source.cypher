// Notes of the user's relationships and nodes that name a source, as they are stored, what was written last first.
// Parameters: user_id; text, the source's key as it stands in stored notes; limit, of records.
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
