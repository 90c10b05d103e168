"""Errors about records that exist: one to create, or several of which one is meant. They show what
these hold.
"""

from collections.abc import Iterable, Sequence

from kgagent.errors import AlreadyExistsError, InputError, NotFoundError
from kgagent.formatting import beginning, counted, listed
from kgagent.graph.pair_state import PairState
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.ontology import Ontology

MAX_DESCRIPTION = 200
MAX_SENTENCE = 100
"""Characters of a relationship that an error lists."""


def relationship_exists(
    state: PairState, stored: RelationshipRecord, ontology: Ontology
) -> AlreadyExistsError:
    """The error for a relationship that two nodes have already."""
    levels = ((field, stored.known_level(ontology, field)) for field in LEVEL_FIELDS)
    values = [f"{field} {level}" for field, level in levels if level is not None]
    return AlreadyExistsError(
        f"Relationship already exists between {state.first} and {state.second}. "
        "Use update_relationship tool to modify existing relationships instead of creating "
        "duplicates. "
        f"It is: {stored.triplet}{_content(stored, values)}"
    )


def several_relationships(records: Sequence[RelationshipRecord], pair: PairState) -> InputError:
    """The error if it is not clear which of several relationships between two nodes is meant."""
    return InputError(
        f"There are {len(records)} {records[0].neo4j_type} relationships between {pair.first} and "
        f"{pair.second}; give relationship_id to choose one: {_listed(records)}"
    )


def unknown_id(relationship_id: str, pair: PairState) -> NotFoundError:
    """The error if no relationship between two nodes has an id."""
    known = _listed(pair.relationships)
    return NotFoundError(
        f"No relationship between {pair.first} and {pair.second} has the relationship_id "
        f"{relationship_id!r}" + (f". They have {known}" if known else "")
    )


def _listed(records: Sequence[RelationshipRecord]) -> str:
    """Relationships with their ids and what tells them apart: "3f2a9c01 'Nord paid Alp'"."""
    texts = []
    for record in records:
        description, triplet = record.text("description"), record.triplet
        if not description.startswith(triplet):
            description = ": ".join(filter(None, (triplet, description)))
        texts.append(f"{record.id} {beginning(description, MAX_SENTENCE)!r}")
    return listed(texts)


def node_exists(stored: NodeRecord) -> AlreadyExistsError:
    """The error for a node whose key another node has already."""
    return AlreadyExistsError(
        f"{stored.label} {stored.text('name')!r} exists already as "
        f"{message_key(stored.entity_key)}. Use update_node "
        f"to change it. It is: {stored.text('name')}{_content(stored, ())}"
    )


def _content(record: Record, values: Iterable[str]) -> str:
    """What a record holds, after its name."""
    description = beginning(record.text("description"), MAX_DESCRIPTION)
    details = ", ".join([*values, counted(len(record.notes), "note")])
    return f": {description} ({details})" if description else f" ({details})"
