// What the vector index of notes `n` filters by: the owner and the days of the filter; see `_kept_note`.
«_index_notes_user» AND n.when_earliest <= $filter.last_day AND n.when_latest >= $filter.first_day
