// A user's items whose texts are nearest to a vector, from the index that filters by user inside itself.
// Parameters: user_id; now; prefix; vector; model; fetch (index matches to fetch); offset; limit.
// Rows: the item, score (plain cosine).
MATCH (n)
SEARCH n IN (VECTOR INDEX «index» FOR $vector WHERE n.user_id = $user_id LIMIT $fetch)
«_ranked_items»
