// Configuration of some indexes.
// Parameters: indexes [names].
// Rows: name, config; none for an index that does not exist.
SHOW INDEXES YIELD name, options WHERE name IN $indexes
RETURN name, options.indexConfig AS config
