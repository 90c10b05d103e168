// A user's items whose texts are nearest to a vector, for servers whose indexes cannot filter.
// Parameters: user_id; now; prefix; vector; model; index; fetch (matches to fetch, of all users); offset; limit.
// Rows: the item, score (plain cosine).
CALL db.index.vector.queryNodes($index, $fetch, $vector) YIELD node AS n
«_ranked_items»
