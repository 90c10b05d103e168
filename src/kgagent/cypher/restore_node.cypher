// Restores a deleted node of the user with relationships that were deleted with it; embeddings stay in the database.
// If something has changed since it was read, it has expired, or the user has a node with its new key, nothing is written. Writing
// `write_lock` takes the locks of what is kept before it is read; what another write restored has no user. Some records that
// expired, of any user, are purged.
// Parameters: user_id; now; deletion; node {element_id (of what is kept), entity_key, new_key (which it gets), properties, vector or
//   null for the one that is kept};
//   relationships [{element_id (of what is kept), neo4j_type, starts (whether it starts at the node), other_element_id,
//   other_entity_key, properties, vector likewise}].
// Rows: one, or none.
MATCH (kept:«deleted_node»)
WHERE elementId(kept) = $node.element_id
SET kept.write_lock = true
REMOVE kept.write_lock
WITH kept
WHERE kept.user_id = $user_id AND kept.kgagent_deletion = $deletion AND kept.entity_key = $node.entity_key
  AND kept.kgagent_undo_until > $now
  AND NOT EXISTS { MATCH (other:«labels» {entity_key: $node.new_key}) WHERE other.user_id = $user_id }
CALL () {
  UNWIND $relationships AS row
  MATCH (part:«deleted»)
  WHERE elementId(part) = row.element_id
  SET part.write_lock = true
  REMOVE part.write_lock
  WITH part, row
  MATCH (m:«labels»)
  WHERE elementId(m) = row.other_element_id
    AND part.user_id = $user_id AND part.kgagent_deletion = $deletion
    AND m.entity_key = row.other_entity_key AND m.user_id = $user_id
  RETURN count(*) AS held
}
WITH kept, held
WHERE held = size($relationships)
CREATE (n:$(kept.kgagent_labels))
SET n = kept {.*, «_deletion_properties», entity_key: $node.new_key}
SET n += $node.properties
DELETE kept
WITH n
CALL (n) {
  WITH n
  WHERE $node.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList($node.vector))
}
CALL (n) {
  UNWIND $relationships AS row
  MATCH (part:«deleted»)
  WHERE elementId(part) = row.element_id
  MATCH (m:«labels»)
  WHERE elementId(m) = row.other_element_id
  WITH row, part, CASE WHEN row.starts THEN n ELSE m END AS a, CASE WHEN row.starts THEN m ELSE n END AS b
  CREATE (a)-[r:$(row.neo4j_type)]->(b)
  SET r = part {.*, «_deletion_properties», relationship_key: row.properties.relationship_key}
  SET r += row.properties
  DELETE part
  WITH r, row
  WHERE row.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
}
«_purge_deleted»
RETURN true AS restored
