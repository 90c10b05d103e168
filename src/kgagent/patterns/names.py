"""Whether the names in patterns exist: labels, relationship types, properties."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.errors import InputError
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.records import INTERNAL_PROPERTIES
from kgagent.models.constraint import Constraint
from kgagent.models.live_schema import LiveLabel, LiveRelationshipType, LiveSchema
from kgagent.models.pattern import GraphPattern
from kgagent.ontology import Ontology
from kgagent.patterns.step_sequences import ResolvedStep, StepSequence, place_name, property_parts, step_sequences
from kgagent.suggestions import closest_names, did_you_mean, list_names, shorten_name

MAX_PROBLEMS = 5
"""Unknown names that one error tells."""

FREE_TYPE = "relationship_type"
"""The property in which a relationship says what it is, such as "mentor"."""

_EVERY_PROPERTIES = frozenset({"description", "notes", "created_at", "updated_at"})
_NODE_PROPERTIES = _EVERY_PROPERTIES | {"entity_key", "name"}
_RELATIONSHIP_PROPERTIES = _EVERY_PROPERTIES | {FREE_TYPE, "attitude", "proximity"}

Kind = Literal["label", "relationship type", "property"]


@dataclass(frozen=True)
class UnknownName:
    """A name in a pattern that does not exist.

    Attributes:
        kind: what it should be the name of.
        name: the name.
        where: the pattern and the step.
        of: the labels or types that should have the property; empty for labels and types.
        existing: what there is instead.
        is_certain: whether all was looked at, so that it cannot be there.
        hint: what to do instead.
    """

    kind: Kind
    name: str
    where: str
    of: str
    existing: frozenset[str]
    is_certain: bool = True
    hint: str = ""

    def __str__(self) -> str:
        """What is wrong, and what was probably did_you_mean."""
        of = f" of {self.of}" if self.of else ""
        name = f"{self.kind} {shorten_name(self.name)!r}{of}"
        told = f"Unknown {name} in {self.where}." if self.is_certain else f"No {name} was seen: {self.where}."
        return " ".join(filter(None, (told, did_you_mean(self.name, self.existing), self.hint)))

    @property
    def alternatives(self) -> str:
        """All that there is."""
        of = f" of {self.of}" if self.of else ""
        plural = {"label": "Labels", "relationship type": "Relationship types", "property": "Properties"}[self.kind]
        return f"{plural}{of} that exist: {list_names(self.existing)}."


def check_names(
    patterns: Iterable[GraphPattern], schema: LiveSchema, ontology: Ontology, *, traversal: bool = False
) -> None:
    """See that each label, relationship type and property in patterns exists.

    What the ontology knows exists, even if the user has none of it yet. A property counts as missing only where all
    nodes or relationships in question were looked at.

    Args:
        patterns: what is asked.
        schema: what the user's graph holds.
        ontology: what it may hold.
        traversal: whether the patterns stand for a traversal, which has no steps and no constraints.

    Raises:
        InputError: names do not exist; it tells the first five, with the nearest that do.
    """
    problems = [
        problem for problem in find_unknown_names(patterns, schema, ontology, traversal=traversal) if problem.is_certain
    ]
    if not problems:
        return
    told = problems[:MAX_PROBLEMS]
    lines = [*map(str, told), *dict.fromkeys(problem.alternatives for problem in told)]
    if len(problems) > len(told):
        lines.append(f"{len(problems) - len(told)} more names do not exist.")
    raise InputError(" ".join(lines))


async def checked_schema(
    patterns: Iterable[GraphPattern],
    reader: LiveSchemaReader,
    user_id: str,
    ontology: Ontology,
    *,
    traversal: bool = False,
) -> LiveSchema:
    """Read what a user's graph holds, and see that the names in patterns exist.

    A name that is missing from what was read a moment ago may be new: then the graph is read anew.

    Raises:
        InputError: see `check_names`.
        StoreError: the database failed.
    """
    asked = tuple(patterns)
    schema = await reader.read(user_id)
    try:
        check_names(asked, schema, ontology, traversal=traversal)
    except InputError:
        schema = await reader.read(user_id, fresh=True)
        check_names(asked, schema, ontology, traversal=traversal)
    return schema


def find_unknown_names(
    patterns: Iterable[GraphPattern], schema: LiveSchema, ontology: Ontology, *, traversal: bool = False
) -> tuple[UnknownName, ...]:
    """The names that do not exist, each once, in the order in which they stand."""
    known = _NameChecker(schema, ontology, traversal=traversal)
    found: dict[tuple[Kind, str, str], UnknownName] = {}
    for pattern in patterns:
        for sequence in step_sequences(pattern):
            for problem in known.problems(sequence):
                found.setdefault((problem.kind, problem.name, problem.of), problem)
    return tuple(found.values())


def find_unknown_label(name: str, schema: LiveSchema, ontology: Ontology, where: str) -> UnknownName | None:
    """Say that a label does not exist; None where it does."""
    return next(_NameChecker(schema, ontology).label(name, where), None)


@dataclass(frozen=True)
class _PropertyOwners:
    """What may have a property.

    Attributes:
        of: what an error calls them.
        parts: the labels or types; None is one that the user has nothing of.
        own: properties that kgagent gives them.
    """

    of: str
    parts: Sequence[LiveLabel | LiveRelationshipType | None]
    own: frozenset[str]


class _NameChecker:
    """The names that exist for a user."""

    def __init__(self, schema: LiveSchema, ontology: Ontology, *, traversal: bool = False) -> None:
        self._traversal = traversal
        self._schema = schema
        self._ontology = ontology
        self._live_labels = {label.name: label for label in schema.labels}
        self._live_types = {kind.name: kind for kind in schema.relationship_types}
        self._labels = frozenset(self._live_labels) | frozenset(ontology.labels)
        self._types = frozenset(self._live_types) | frozenset(ontology.relationships)
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties

    def problems(self, sequence: StepSequence) -> Iterator[UnknownName]:
        for resolved in sequence.steps:
            yield from self._step_names(resolved)
        for constraint in sequence.constraints:
            yield from self._constraint(sequence, constraint)

    def label(self, name: str | None, where: str) -> Iterator[UnknownName]:
        if name is not None and name not in self._labels:
            yield UnknownName("label", name, where, "", self._labels, not self._schema.is_partial)

    def _step_names(self, resolved: ResolvedStep) -> Iterator[UnknownName]:
        yield from self.label(resolved.step.source_label, resolved.where)
        for name in resolved.step.types:
            if name not in self._types:
                certain = not self._schema.is_partial
                where = "traversal.relation_types" if self._traversal else resolved.where
                yield UnknownName("relationship type", name, where, "", self._types, certain, self._free(name))
        yield from self.label(resolved.step.target_label, resolved.where)

    def _free(self, name: str) -> str:
        """What to do with a type that is none of the database's, but perhaps what relationships say they are."""
        said = [item for kind in self._schema.relationship_types for item in kind.properties if item.name == FREE_TYPE]
        stored = {word.casefold(): word for item in said for word in item.examples}.get(name.casefold())
        if not said or (stored is None and closest_names(name, self._types)):
            return ""
        begin = "If it is" if stored is None else "It is"
        begin += f" a value of the property {FREE_TYPE}"
        constraint = {
            "type": "PROPERTY_EQUALS",
            "on": "relationship",
            "property_path": FREE_TYPE,
            "value": name if stored is None else stored,
        }
        told = json.dumps(constraint, ensure_ascii=False)
        if self._traversal:
            return (
                f"{begin}: a traversal cannot be limited by it. The tool traverse can, with {FREE_TYPE}s; so can a "
                f"pattern, with a step without relation_type and the constraint {told}."
            )
        return f"{begin}: leave relation_type out and add the constraint {told}."

    def _constraint(self, sequence: StepSequence, constraint: Constraint) -> Iterator[UnknownName]:
        place = constraint.at_step
        where = f"{sequence.where}, {place_name(place)}"
        yield from self.label(constraint.node_label, where)
        if constraint.on == "relationship":
            holders = self._relationships(sequence.types_at(place))
        elif constraint.node_label is None:
            holders = self._nodes(sequence.labels_at(place))
        else:
            holders = self._nodes([constraint.node_label])
        yield from self._property(constraint.property_path, holders, where)
        if other := constraint.value_from:
            where = f"{sequence.where}, value_from {place_name(other.at_step)}"
            yield from self._property(other.property_path, self._nodes([sequence.label_at(other.at_step)]), where)

    def _nodes(self, labels: Iterable[str | None]) -> _PropertyOwners:
        asked = set(labels)
        named = sorted(label for label in asked if label is not None and None not in asked)
        names = named or sorted(self._labels)
        own = _NODE_PROPERTIES if self._ontology.labels.keys() & names else frozenset()
        parts = [self._live_labels.get(name) for name in named or self._live_labels]
        return _PropertyOwners(" or ".join(map(shorten_name, named)) or "any node", parts, own)

    def _relationships(self, types: Iterable[str]) -> _PropertyOwners:
        named = sorted(set(types))
        defaults = frozenset(self._ontology.relationship_defaults) - self._ontology.hidden_properties
        own = _RELATIONSHIP_PROPERTIES | defaults
        of_ontology = self._ontology.relationships.keys() & (named or self._types)
        parts = [self._live_types.get(name) for name in named or self._live_types]
        of = " or ".join(map(shorten_name, named)) or "any relationship"
        return _PropertyOwners(of, parts, own if of_ontology else frozenset())

    def _property(self, path: str, holders: _PropertyOwners, where: str) -> Iterator[UnknownName]:
        name = property_parts(path)[0]
        existing = holders.own | {item.name for part in holders.parts if part is not None for item in part.properties}
        if name not in existing:
            looked_at = [part is not None and not part.sampled for part in holders.parts]
            certain = bool(looked_at) and all(looked_at) and not self._schema.is_partial
            # What is never shorten_name is never compared with: an error would tell its value.
            certain |= name in self._hidden or name.lower().endswith("embedding")
            yield UnknownName("property", name, where, holders.of, frozenset(existing), certain)
