"""The direction in which the type of a relationship reads: an update keeps it."""

from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteOptions
from kgagent.ontology import Ontology

ONE_WAY = frozenset({"at", "by", "for", "from", "in", "of", "to", "under", "von"})
"""Last words of types that read in one direction only: "mentor of", but not "mentor" or "friends with"."""


def check_direction(intent: RelationshipIntent, stored: RelationshipRecord | None, ontology: Ontology) -> None:
    """Refuse a type that the caller reads in the opposite direction of the stored relationship.

    Storing it would reverse its meaning: that Tom is "mentor of" Felix is another fact than that Felix is "mentor of"
    Tom. Two kinds of types are accepted: symmetric ones ("friend"), and the stored type, unless it reads in one
    direction only ("mentor of") and the nodes have the same label, so that either could be the first.

    Raises:
        InputError: the type is neither.
    """
    relationship_type = intent.values.get("relationship_type")
    if stored is None or relationship_type is None or relationship_type.casefold() in ontology.symmetric_types:
        return
    definition = ontology.relationship(stored.neo4j_type)
    may_be_reversed = definition.from_label == definition.to_label
    reads_one_way = not ONE_WAY.isdisjoint(relationship_type.casefold().split()[-1:])
    if relationship_type == stored.text("relationship_type") and not (may_be_reversed and reads_one_way):
        return
    if intent.from_entity_key != next(iter(stored.ends_in_direction)):
        notes = f", including its {counted(len(intent.notes), 'note')}" if intent.notes else ""
        raise InputError(
            f"The relationship exists in the opposite direction: {stored.triplet!r}. Nothing of this item was "
            f"stored{notes}. To add notes and values to it, repeat the item without relationship_type; to change the "
            "type, give the nodes in that order, with a relationship_type that reads in that direction"
        )


def update_options(ontology: Ontology) -> RelationshipWriteOptions:
    """Options of updates of relationships, which keep their direction."""

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        if not intent.create:
            check_direction(intent, stored, ontology)
        return intent

    return RelationshipWriteOptions(prepare=prepare)
