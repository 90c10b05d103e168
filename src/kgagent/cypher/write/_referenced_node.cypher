// A node `n` as an error lists it.
{
  element_id: elementId(n), user_id: n.user_id, entity_key: n.entity_key, labels: labels(n), name: toStringOrNull(n.name),
  description: left(toStringOrNull(n.description), 200), trust: n.trust_class,
  aliases: «_aliases»
}
