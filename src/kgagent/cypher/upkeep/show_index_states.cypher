// How far each index is.
// Rows: name, state, populationPercent.
SHOW INDEXES YIELD name, state, populationPercent
RETURN name, state, populationPercent
