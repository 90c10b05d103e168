"""Errors about a record to create that exists already: they show what it holds."""

from collections.abc import Iterable

from kgagent.errors import AlreadyExistsError
from kgagent.formatting import beginning, counted
from kgagent.graph.pair_state import PairState
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.ontology import Ontology

MAX_DESCRIPTION = 200


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
