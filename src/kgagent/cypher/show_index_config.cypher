// How an index was made.
// Parameters: index.
// Rows: one {config}, or none where there is no such index.
SHOW INDEXES YIELD name, options WHERE name = $index
RETURN options.indexConfig AS config
