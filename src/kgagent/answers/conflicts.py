"""Relationships of an answer that cannot both hold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kgagent.models.free_types import type_names
from kgagent.models.graph import GraphRelationship
from kgagent.models.when import OPEN_START, is_past, periods_of
from kgagent.ontology import Ontology


def conflicts(
    relationships: Iterable[GraphRelationship], ontology: Ontology, day: int
) -> Mapping[tuple[str, ...], str]:
    """What each relationship conflicts with, as short sentences: another value, on a day, of a type
    of which a node has one; neither is known to be the later one, or the later one is of a lower
    class, which ends nothing.

    Args:
        relationships: the relationships of an answer.
        ontology: the types of which a node has one value.
        day: the day, such as 20230204.
    """
    values: dict[tuple[str, str], dict[tuple[str, ...], GraphRelationship]] = defaultdict(dict)
    for one in relationships:
        declared = ontology.single_types & type_names(one.relationship_type)
        if declared and not is_past(one.when, day):
            ends = (one.from_entity_key, one.to_entity_key)
            source, target = reversed(ends) if one.ends_reversed else ends
            for node, of_node in ontology.single_value_nodes(declared, source, target).items():
                for name in of_node:
                    values[node, name][one.identity] = one
    found: dict[tuple[str, ...], str] = {}
    for of_type in values.values():
        for identity, one in of_type.items():
            others = [
                other.triplet
                for other in of_type.values()
                if other.pair != one.pair and max(_begin(one), _begin(other)) <= day
            ]
            if others:
                found[identity] = ", ".join(others)
    return found


def _begin(relationship: GraphRelationship) -> int:
    periods = periods_of(relationship.when) or periods_of(relationship.said_on)
    return periods[-1].earliest if periods else OPEN_START
