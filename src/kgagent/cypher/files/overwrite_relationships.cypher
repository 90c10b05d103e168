// Gives relationships exactly the properties that a file has, and a version that no reader knows.
// Parameters: user_id; rows [{position, element_id, neo4j_type, start_key, end_key, properties, times, vectors, stated (see _index_statements)}].
// Rows: position of each that was changed.
UNWIND $rows AS row
MATCH (a)-[r]->(b)
WHERE elementId(r) = row.element_id
«_relationship_lock»
WITH row, a, r, b, r.version AS version
WHERE type(r) = row.neo4j_type AND a.entity_key = row.start_key AND a.user_id = $user_id
  AND b.entity_key = row.end_key AND b.user_id = $user_id
SET r = row.properties
SET r.version = CASE WHEN coalesce(version, 0) > coalesce(r.version, 0) THEN version ELSE coalesce(r.version, 0) END + 1
WITH r, row
«_imported_relationship»
WITH collect({row: row, record: r, ends: «_ends_in_direction»}) AS written
«_index_statements»
UNWIND [one IN written | one.row] AS row
RETURN row.position AS position
