// What the index gives for one query: how much, and how near the last of it is.
// Parameters: user_id; fetch; vector.
// Rows: one {hits, least}; least is plain cosine.
MATCH ()-[r]->()
SEARCH r IN (VECTOR INDEX «index» FOR $vector WHERE r.user_id = $user_id LIMIT $fetch) SCORE AS score
RETURN count(r) AS hits, 2.0 * min(score) - 1.0 AS least
