// Restores deleted relationships between nodes of the user, unless they have expired or the two nodes have one of the type.
// Embeddings stay in the database. Some records that expired, of any user, are purged.
// The write of `write_lock` takes the lock of the kept node before it is read; one that another write restored has no user.
// Parameters: user_id; now; updated_relationships [{position, element_id (of what was kept), neo4j_type, from_element_id, from_entity_key, to_element_id,
//   to_entity_key, properties, vector or null for the one that was kept}].
// Rows: one {positions (of those that were restored)}.
UNWIND $updated_relationships AS row
MATCH (kept:«deleted»)
WHERE elementId(kept) = row.element_id
SET kept.write_lock = true
REMOVE kept.write_lock
WITH row, kept
WHERE kept.user_id = $user_id AND kept.relationship_key = row.properties.relationship_key
  AND kept.kgagent_undo_until > $now
MATCH (a) WHERE elementId(a) = row.from_element_id
MATCH (b) WHERE elementId(b) = row.to_element_id
WITH row, kept, a, b
WHERE a.entity_key = row.from_entity_key AND a.user_id = $user_id
  AND b.entity_key = row.to_entity_key AND b.user_id = $user_id
  AND NOT EXISTS { MATCH (a)-[existing:«types»]-(b) WHERE type(existing) = row.neo4j_type }
CREATE (a)-[r:$(row.neo4j_type)]->(b)
SET r = kept {.*, told_in_reverse: null, «_deletion_properties»}
SET r += row.properties
DELETE kept
WITH r, row
CALL (r, row) {
  WITH r, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
}
WITH collect(row.position) AS restored
«_purge_deleted»
RETURN restored AS positions
