// Chooses the nodes `n` of a user that mention a text in their notes, or in the progress of sources that were merged into them.
n.user_id = $user_id AND (n.notes CONTAINS $mentioned OR n.ingestion_merged CONTAINS $mentioned)
