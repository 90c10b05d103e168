"""The direction in which the type of a relationship reads: an update keeps it."""

import json

from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteOptions
from kgagent.ontology import Ontology
from kgagent.suggestions import shorten_name

MAX_CALL = 400
"""Characters of a corrected call that an error gives."""

ONE_WAY = frozenset({"at", "by", "for", "from", "in", "of", "to", "under", "von"})
"""Last words of types that read in one direction only: "mentor of", but not "mentor" or "friends with"."""


def check_direction(
    intent: RelationshipIntent, stored: RelationshipRecord | None, ontology: Ontology, *, noun: str = "item"
) -> None:
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
        notes = f", not even its {counted(len(intent.notes), 'note')}" if intent.notes else ""
        raise InputError(
            f"The relationship exists in the opposite direction: {stored.triplet!r}. Nothing from this {noun} was "
            f"stored{notes}. {_corrected(intent, stored)}"
        )


def _corrected(intent: RelationshipIntent, stored: RelationshipRecord) -> str:
    """The calls that add the values and notes without the type, or change the type."""
    start, end = map(message_key, stored.ends_in_direction)
    ends = {"from": start, "to": end}
    rest = {name: value for name, value in intent.values.items() if value is not None and name != "relationship_type"}
    if intent.notes:
        rest["notes"] = [note.content for note in intent.notes]
    call = json.dumps(ends | rest, ensure_ascii=False)
    if len(call) > MAX_CALL:
        call = f"{json.dumps(ends)} with the same {', '.join(rest)}"
    change = json.dumps({**ends, "relationship_type": "…"}, ensure_ascii=False)
    start_name, end_name = map(shorten_name, _names(stored))
    return (f"To store the rest without relationship_type: {call}; to" if rest else "To") + (
        f" change the type: {change}, with a type that reads from {start_name} to {end_name}"
    )


def _names(stored: RelationshipRecord) -> tuple[str, str]:
    """The names of both nodes in the direction of the relationship."""
    names = (stored.from_name, stored.to_name)
    return names if stored.from_entity_key == next(iter(stored.ends_in_direction)) else (names[1], names[0])


def update_options(ontology: Ontology, *, noun: str = "item") -> RelationshipWriteOptions:
    """Options of updates of relationships, which keep their direction; `noun` is what an error calls the update."""

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        if not intent.create:
            check_direction(intent, stored, ontology, noun=noun)
        return intent

    return RelationshipWriteOptions(prepare=prepare)
