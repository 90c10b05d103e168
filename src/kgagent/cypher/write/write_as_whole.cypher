// Deletes, changes, moves and restores records of the user, all or nothing: if anything has changed since it was read, what is to be
// restored has expired, or what is to be new exists, nothing is written. Writing `write_lock` takes the locks before versions are
// compared; the property is removed again. A relationship that another write gave a deleted node makes the deletion fail.
// Nodes that no search reads keep the properties of what is deleted, including the embeddings, and those that a change may have to
// be taken back to. Some that expired, of any user, are purged.
// Parameters: user_id; now; nodes [{element_id, entity_key, version, is_deleted, kept (properties of what is kept, or null to keep
//   nothing), and if it is not deleted properties, vector or null}]; relationships [{element_id, neo4j_type, version, from_entity_key,
//   to_entity_key, and as for nodes}]; kept [{element_id, version}], what was kept of records and is used up; new_nodes [{element_id
//   (of what is kept), properties, vector or null for the one that is kept}], at most one; new_relationships [{element_id (of a
//   relationship, or of what is kept of it), neo4j_type, from_element_id and to_element_id (null for the new node), from_entity_key,
//   to_entity_key, properties, vector likewise}]; unindexed [`record` of the statements of what is deleted].
// Rows: one, or none.
CALL () {
  UNWIND $nodes AS row
  MATCH (n:«labels»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH n, row
  WHERE n.entity_key = row.entity_key AND n.user_id = $user_id AND coalesce(n.version, 0) = row.version
  RETURN collect({record: n, row: row}) AS nodes
}
CALL () {
  UNWIND $relationships AS row
  MATCH (a)-[r:«types»]->(b)
  WHERE elementId(r) = row.element_id
  «_relationship_lock»
  WITH row, a, r, b
  WHERE coalesce(r.version, 0) = row.version AND type(r) = row.neo4j_type
    AND a.entity_key = row.from_entity_key AND a.user_id = $user_id
    AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
  RETURN collect({record: r, row: row}) AS relationships
}
CALL () {
  UNWIND $kept AS row
  MATCH (n:«all_deleted»)
  WHERE elementId(n) = row.element_id
  «_node_lock»
  WITH n, row
  WHERE n.user_id = $user_id AND coalesce(n.version, 0) = row.version AND n.kgagent_undo_until > $now
  RETURN collect(n) AS kept
}
CALL () {
  UNWIND $new_nodes AS row
  OPTIONAL MATCH (other:«labels» {entity_key: row.properties.entity_key})
  WHERE other.user_id = $user_id
  WITH row, other
  WHERE other IS NULL
  RETURN count(DISTINCT row) AS free
}
CALL () {
  UNWIND $new_relationships AS row
  OPTIONAL MATCH (a:«labels») WHERE elementId(a) = row.from_element_id
  OPTIONAL MATCH (b:«labels») WHERE elementId(b) = row.to_element_id
  WITH row, a, b
  WHERE (row.from_element_id IS NULL OR (a.entity_key = row.from_entity_key AND a.user_id = $user_id))
    AND (row.to_element_id IS NULL OR (b.entity_key = row.to_entity_key AND b.user_id = $user_id))
    AND NOT EXISTS {
      MATCH (a)-[existing:«types»]-(b)
      WHERE type(existing) = row.neo4j_type
        AND (existing.relationship_key IS NULL OR existing.relationship_key = row.properties.relationship_key)
    }
  RETURN collect({row: row, a: a, b: b}) AS places
}
WITH nodes, relationships, kept, free, places
WHERE size(nodes) = size($nodes) AND size(relationships) = size($relationships) AND size(kept) = size($kept)
  AND free = size($new_nodes) AND size(places) = size($new_relationships)
CALL (nodes) {
  UNWIND nodes AS held
  WITH held.record AS n, held.row AS row
  WHERE row.kept IS NOT NULL
  CREATE (copy:«deleted_node»)
  SET copy = properties(n), copy.kgagent_labels = labels(n)
  SET copy += row.kept
}
CALL (relationships) {
  UNWIND relationships AS held
  WITH held.record AS r, held.row AS row
  WHERE row.kept IS NOT NULL
  CREATE (copy:«deleted»)
  SET copy = properties(r)
  SET copy += row.kept
}
// What takes the place of a deleted relationship may have its key.
FOREACH (held IN [one IN relationships WHERE one.row.is_deleted] |
  FOREACH (r IN [held.record] | REMOVE r.relationship_key)
)
WITH nodes, relationships, kept, places
CALL () {
  UNWIND $new_nodes AS row
  MATCH (old:«deleted_node»)
  WHERE elementId(old) = row.element_id AND old.user_id = $user_id
  CREATE (n:$(old.kgagent_labels))
  SET n = old {.*, «_deletion_properties», entity_key: row.properties.entity_key}
  SET n += row.properties
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, '«node_embedding»', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: n, ends: [n]}) AS new_nodes
}
CALL (places, new_nodes) {
  UNWIND places AS place
  WITH place.row AS row, coalesce(place.a, head(new_nodes).record) AS a, coalesce(place.b, head(new_nodes).record) AS b
  OPTIONAL MATCH (old:«deleted») WHERE elementId(old) = row.element_id
  OPTIONAL MATCH ()-[moved:«types»]->() WHERE elementId(moved) = row.element_id
  CREATE (a)-[r:$(row.neo4j_type)]->(b)
  SET r = coalesce(
    old {.*, «_deletion_properties», relationship_key: row.properties.relationship_key},
    moved {.*, relationship_key: row.properties.relationship_key}
  )
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding
  SET r += row.properties
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS new_relationships
}
CALL (relationships) {
  UNWIND relationships AS held
  WITH held.record AS r, held.row AS row
  WHERE NOT row.is_deleted
  SET r += row.properties
  REMOVE r.relation_embedding, r.notes_embedding, r.description_embedding
  WITH r, row
  CALL (r, row) {
    WITH r, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: r, ends: «_ends_in_direction»}) AS changed_relationships
}
CALL (nodes) {
  UNWIND nodes AS held
  WITH held.record AS n, held.row AS row
  WHERE NOT row.is_deleted
  SET n += row.properties
  WITH n, row
  CALL (n, row) {
    WITH n, row
    WHERE row.vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, '«node_embedding»', toFloatList(row.vector))
  }
  RETURN collect({row: row, record: n, ends: [n]}) AS changed_nodes
}
FOREACH (held IN [one IN relationships WHERE one.row.is_deleted] | FOREACH (r IN [held.record] | DELETE r))
FOREACH (held IN [one IN nodes WHERE one.row.is_deleted] | FOREACH (n IN [held.record] | DELETE n))
FOREACH (old IN kept | DELETE old)
WITH changed_nodes, new_nodes + changed_nodes + new_relationships + changed_relationships AS written
CALL () {
  MATCH (entry:KgagentStatement)
  WHERE entry.user_id = $user_id AND entry.record IN $unindexed
  DELETE entry
}
«_index_statements»
WITH changed_nodes AS written
«_rename_statements»
«_purge_deleted»
RETURN true AS done
