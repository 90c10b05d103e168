// Creates relationships of a file between nodes of the user, unless one of the type has the same key already.
// The nodes are found by their element ids; see create_relationships.
// Parameters: user_id; rows [{position, neo4j_type, start_id, start_key, end_id, end_key, properties, times, vectors, stated (see _index_statements)}].
// Rows: position of each that was created.
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start_id
MATCH (b) WHERE elementId(b) = row.end_id
WITH row, a, b
WHERE a.entity_key = row.start_key AND a.user_id = $user_id AND b.entity_key = row.end_key AND b.user_id = $user_id
  AND NOT EXISTS {
    MATCH (a)-[existing]-(b)
    WHERE type(existing) = row.neo4j_type AND existing.relationship_key = row.properties.relationship_key
  }
CREATE (a)-[r:$(row.neo4j_type)]->(b)
SET r = row.properties
WITH r, row
«_imported_relationship»
WITH collect({row: row, record: r, ends: «_ends_in_direction»}) AS written
«_index_statements»
UNWIND [one IN written | one.row] AS row
RETURN row.position AS position
