// Gives a deleted record of the user notes without those of a source, unless they have changed since they were read. Its embedding,
// which was that of other notes, is removed.
// Parameters: user_id; element_id; notes, notes_after, notes_text.
// Rows: one if it was changed.
MATCH (n:«all_deleted»)
WHERE elementId(n) = $element_id
«_node_lock»
WITH n
WHERE n.user_id = $user_id AND n.notes = $notes
SET n.notes = $notes_after, n.notes_text = $notes_text, n.version = coalesce(n.version, 0) + 1
REMOVE n.«node_embedding», n.relationship_embedding, n.embedding_hash, n.embedding_model
RETURN true AS changed
