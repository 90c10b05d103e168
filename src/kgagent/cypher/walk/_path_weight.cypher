// Weight of a relationship `r` on a path: its plain cosine with the query, 0 without a vector that can be compared;
// without a query, its strength, 0 to 1.
CASE
  WHEN $vector IS NULL THEN («_strength») / 10.0
  ELSE head([embedding IN [r.relationship_embedding] | CASE
      WHEN «_comparable_relationship» THEN 2.0 * vector.similarity.cosine(embedding, $vector) - 1.0
      ELSE 0.0
    END])
END
