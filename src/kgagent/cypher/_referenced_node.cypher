// A node `n` as an error lists it.
{
  entity_key: n.entity_key, labels: labels(n), name: toStringOrNull(n.name),
  description: left(toStringOrNull(n.description), 200),
  aliases: «_aliases»
}
