// The labels that the database has ever had, whoever they are of.
// Rows: one {labels [text]}.
CALL db.labels() YIELD label
RETURN collect(label) AS labels
