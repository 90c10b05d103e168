// How many nodes of each label one user has; a node of several labels counts for the ontology's first.
// Parameters: user_id; label_order, {label: place in the ontology}.
// Rows: {place, found}, one for each label that there are nodes of.
MATCH (m:«labels»)
WHERE m.user_id = $user_id
WITH «_label_order» AS place
RETURN place, count(*) AS found
