"""What must be in the graph, as plain Python, and the comparison with what is there."""

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kgagent import KnowledgeGraph
from tests.support.stored import (
    assert_embeddings_are_current,
    nodes_of,
    note_contents,
    relationships_of,
)

Ends = tuple[str, str]
FIELDS = ("relationship_type", "description", "attitude", "proximity")


@dataclass
class Node:
    """A node that must be there."""

    name: str
    description: str
    label: str
    notes: list[str] = field(default_factory=list)


@dataclass
class Relationship:
    """A relationship that must be there.

    Attributes:
        values: its fields; None if several agents change them, so that the last writer is not
            known.
        doubtful_notes: notes of calls whose reply was lost: each is there once or not at all.
    """

    values: dict[str, Any] | None
    notes: list[str] = field(default_factory=list)
    doubtful_notes: list[str] = field(default_factory=list)


@dataclass
class Zone:
    """The records of one agent, or those that all agents of a user share.

    Attributes:
        nodes: by key.
        relationships: by their ends in the order in which they were created.
        deleted: keys of deleted nodes that may be restored, with their records and relationships.
        unrelated: ends and records of deleted relationships that may be restored.
        gone: keys of nodes that must not be there.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    relationships: dict[Ends, Relationship] = field(default_factory=dict)
    deleted: dict[str, tuple[Node, dict[Ends, Relationship]]] = field(default_factory=dict)
    unrelated: dict[Ends, Relationship] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def related(self, key: str) -> list[Ends]:
        """Ends of the relationships at a node."""
        return [ends for ends in self.relationships if key in ends]

    def has(self, first: str, second: str) -> bool:
        """Whether two nodes have or had a relationship that may be restored."""
        known = self.relationships.keys() | self.unrelated.keys()
        return (first, second) in known or (second, first) in known


Change = Callable[[Zone, Mapping[str, str]], None]
"""What a call does to a zone, given the keys of nodes by their names."""


def settled(prefix: str, zone: Zone, changes: Sequence[Change], stored: "Stored") -> Zone | None:
    """The zone after the first of some changes, as many as agree with what is stored; None if no
    number does.

    Args:
        prefix: the beginning of the names of its nodes.
        zone: as it was before a call whose reply was lost.
        changes: what the call does, one after the other.
        stored: all records of the user.
    """
    keys = {str(node["name"]): str(key) for key, node in stored.nodes.items() if "name" in node}
    after = copy.deepcopy(zone)
    for change in (None, *changes):
        try:
            if change is not None:
                change(after, keys)
        except KeyError:
            # A node that it creates is not there.
            return None
        if not [
            *_wrong_nodes(prefix, after, stored.nodes),
            *_wrong_relationships(after, stored.relationships),
        ]:
            return after
    return None


@dataclass(frozen=True)
class Stored:
    """All records of a user: nodes by key, and relationships."""

    nodes: Mapping[str, Mapping[str, Any]]
    relationships: list[dict[str, Any]]

    @classmethod
    async def of(cls, graph: KnowledgeGraph, user_id: str) -> "Stored":
        """Read them."""
        nodes = {str(node["entity_key"]): node for node in await nodes_of(graph, user_id)}
        return cls(nodes, await relationships_of(graph, user_id))


@dataclass
class Found:
    """What a comparison saw."""

    nodes: int = 0
    relationships: int = 0
    notes: int = 0
    violations: list[str] = field(default_factory=list)


async def compare(
    graph: KnowledgeGraph, user_id: str, zones: Mapping[str, Zone], foreign: list[str]
) -> Found:
    """Compare all that is stored of a user with the model, and check each embedding.

    Args:
        graph: the graph, while no agent works.
        user_id: the user.
        zones: by the beginning of the names of their nodes.
        foreign: words that only texts of other users have.
    """
    found = Found()
    nodes = await nodes_of(graph, user_id)
    relationships = await relationships_of(graph, user_id)
    found.nodes, found.relationships = len(nodes), len(relationships)
    found.notes = sum(len(note_contents(record)) for record in (*nodes, *relationships))
    try:
        await assert_embeddings_are_current(graph, user_id, graph.embedder, datetime.now(UTC))
    except (AssertionError, KeyError) as error:
        found.violations.append(f"{user_id}: a stored embedding is not current: {str(error)[:300]}")
    keys = Counter(node["entity_key"] for node in nodes)
    found.violations += [
        f"{user_id}: {count} nodes with key {key}" for key, count in keys.items() if count > 1
    ]
    stored = {node["entity_key"]: node for node in nodes}
    pairs = Counter(
        (frozenset((row["first"], row["second"])), row["neo4j_type"]) for row in relationships
    )
    found.violations += [
        f"{user_id}: {count} relationships of {pair}" for pair, count in pairs.items() if count > 1
    ]
    text = json.dumps([nodes, relationships], default=str)
    found.violations += [
        f"{user_id}: a text of another user is stored: {word}" for word in foreign if word in text
    ]
    for prefix, zone in zones.items():
        found.violations += [
            f"{user_id} {prefix}: {wrong}" for wrong in _wrong_nodes(prefix, zone, stored)
        ]
        found.violations += [
            f"{user_id} {prefix}: {wrong}" for wrong in _wrong_relationships(zone, relationships)
        ]
    return found


def _wrong_nodes(prefix: str, zone: Zone, stored: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for key, node in zone.nodes.items():
        if key not in stored:
            yield f"node {node.name} is lost"
            continue
        for name, value in (("name", node.name), ("description", node.description)):
            if stored[key].get(name) != value:
                yield f"{name} of node {key} is {stored[key].get(name)!r} instead of {value!r}"
        yield from _wrong_notes(f"node {node.name}", node.notes, stored[key])
    named = {
        key for key, node in stored.items() if str(node.get("name", "")).startswith(f"{prefix} ")
    }
    yield from (f"node {key} is not expected" for key in named - zone.nodes.keys())
    yield from (f"deleted node {key} is there" for key in zone.gone & stored.keys())


def _wrong_relationships(zone: Zone, relationships: list[dict[str, Any]]) -> Iterator[str]:
    there = {(row["first"], row["second"]): row for row in relationships}
    for ends, expected in zone.relationships.items():
        row = there.get(ends) or there.get((ends[1], ends[0]))
        if row is None:
            yield f"relationship {ends} is lost"
            continue
        for name in FIELDS if expected.values is not None else ():
            value = (expected.values or {}).get(name)
            if row.get(name) != value:
                yield f"{name} of relationship {ends} is {row.get(name)!r} instead of {value!r}"
        doubtful = Counter(expected.doubtful_notes) & Counter(note_contents(row))
        yield from _wrong_notes(
            f"relationship {ends}", [*expected.notes, *doubtful.elements()], row
        )
    known = zone.relationships.keys() | {(second, first) for first, second in zone.relationships}
    between = (ends for ends in there if set(ends) <= zone.nodes.keys())
    yield from (f"relationship {ends} is not expected" for ends in between if ends not in known)


def _wrong_notes(where: str, expected: list[str], row: Mapping[str, Any]) -> Iterator[str]:
    notes, wanted = Counter(note_contents(row)), Counter(expected)
    yield from (f"{where} lost the note {note!r}" for note in wanted - notes)
    yield from (f"{where} has the note {note!r}, which is not expected" for note in notes - wanted)
