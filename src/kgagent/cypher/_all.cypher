// Chooses every record.
true
