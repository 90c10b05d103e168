// Whether a node or relationship `record` has the values of `row.before`, and nothing else under the names of `row.properties`.
all(name IN keys(row.before) WHERE record[name] = row.before[name])
AND all(name IN keys(row.properties) WHERE record[name] IS NULL OR row.before[name] IS NOT NULL)
