// Configuration of an index.
// Parameters: index.
// Rows: one {config}, or none if there is no such index.
SHOW INDEXES YIELD name, options WHERE name = $index
RETURN options.indexConfig AS config
