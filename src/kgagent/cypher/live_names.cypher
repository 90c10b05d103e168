// The labels and relationship types that the database has ever had, whoever they are of.
// Rows: one {labels [text], types [text]}.
CALL () {
  CALL db.labels() YIELD label
  RETURN collect(label) AS labels
}
CALL () {
  CALL db.relationshipTypes() YIELD relationshipType
  RETURN collect(relationshipType) AS types
}
RETURN labels, types
