"""Checks that the labels, relationship types and properties in patterns exist."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.errors import InputError
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.property_names import INTERNAL_PROPERTIES, LEVEL_FIELDS
from kgagent.models.constraint import Constraint
from kgagent.models.live_schema import LiveLabel, LiveRelationshipType, LiveSchema
from kgagent.models.pattern import GraphPattern
from kgagent.ontology import Ontology
from kgagent.patterns.step_sequences import ResolvedStep, StepSequence, place_name, property_parts, step_sequences
from kgagent.suggestions import closest_names, did_you_mean, list_names, shorten_name

MAX_PROBLEMS = 5
"""Maximum number of unknown names in one error."""

FREE_TYPE = "relationship_type"
"""The property that holds the free word of a relationship, such as "mentor"."""

_COMMON_PROPERTIES = frozenset({"description", "notes", "created_at", "updated_at"})
_NODE_PROPERTIES = _COMMON_PROPERTIES | {"entity_key", "name"}
_OF_RELATIONSHIPS_ONLY = frozenset({FREE_TYPE, *LEVEL_FIELDS})
_RELATIONSHIP_PROPERTIES = _COMMON_PROPERTIES | _OF_RELATIONSHIPS_ONLY

Kind = Literal["label", "relationship type", "property"]


@dataclass(frozen=True)
class UnknownName:
    """A name in a pattern that does not exist.

    Attributes:
        kind: what the name should refer to.
        name: the name.
        where: the pattern and the step.
        of: labels or types that should have the property; empty for labels and types.
        existing: names that exist.
        is_certain: whether everything was read, so that the name certainly does not exist.
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
        """The problem, and the hint or else the most similar name."""
        of = f" of {self.of}" if self.of else ""
        name = f"{self.kind} {shorten_name(self.name)!r}{of}"
        problem = f"Unknown {name} in {self.where}." if self.is_certain else f"Found no {name}: {self.where}."
        return f"{problem} {self.hint or did_you_mean(self.name, self.existing)}".strip()

    @property
    def alternatives(self) -> str:
        """All names that exist."""
        of = f" of {self.of}" if self.of else ""
        plural = {"label": "labels", "relationship type": "relationship types", "property": "properties"}[self.kind]
        return f"Existing {plural}{of}: {list_names(self.existing)}."


async def checked_schema(
    patterns: Iterable[GraphPattern], reader: LiveSchemaReader, user_id: str, ontology: Ontology
) -> LiveSchema:
    """Read the schema of a user's graph, and check that the names in patterns exist; see `check_names`.

    A name that is missing from the cached schema may be new, so the schema is read again before an error is raised.

    Raises:
        InputError: a name does not exist.
        StoreError: the database failed.
    """
    checked = tuple(patterns)
    schema = await reader.read(user_id)
    try:
        check_names(checked, schema, ontology)
    except InputError:
        schema = await reader.read(user_id, fresh=True)
        check_names(checked, schema, ontology)
    return schema


def check_names(patterns: Iterable[GraphPattern], schema: LiveSchema, ontology: Ontology) -> None:
    """Check that each label, relationship type and property in patterns exists.

    Names of the ontology exist even if the user's graph does not use them yet. A property is an error only if all nodes
    or relationships that could have it were read.

    Raises:
        InputError: names do not exist; the error lists the first five, with similar names.
    """
    problems = [problem for problem in find_unknown_names(patterns, schema, ontology) if problem.is_certain]
    if not problems:
        return
    listed = problems[:MAX_PROBLEMS]
    lines = [*map(str, listed), *dict.fromkeys(problem.alternatives for problem in listed)]
    if len(problems) > len(listed):
        lines.append(f"{len(problems) - len(listed)} more names do not exist.")
    raise InputError(" ".join(lines))


def find_unknown_names(
    patterns: Iterable[GraphPattern], schema: LiveSchema, ontology: Ontology
) -> tuple[UnknownName, ...]:
    """The names that do not exist, each once, in the order in which they occur."""
    checker = _NameChecker(schema, ontology)
    unknown: dict[tuple[Kind, str, str], UnknownName] = {}
    for pattern in patterns:
        for sequence in step_sequences(pattern):
            for problem in checker.problems(sequence):
                unknown.setdefault((problem.kind, problem.name, problem.of), problem)
    return tuple(unknown.values())


def find_unknown_label(name: str, schema: LiveSchema, ontology: Ontology, where: str) -> UnknownName | None:
    """The problem with a label; None if it exists."""
    return next(_NameChecker(schema, ontology).label(name, where), None)


@dataclass(frozen=True)
class _PropertyOwners:
    """The labels or types that may have a property.

    Attributes:
        of: their names, for messages.
        parts: the labels or types; None for one that the user's graph does not use.
        own: properties that kgagent writes on all of them.
    """

    of: str
    parts: Sequence[LiveLabel | LiveRelationshipType | None]
    own: frozenset[str]


class _NameChecker:
    """Checks names against the schema of a user and the ontology."""

    def __init__(self, schema: LiveSchema, ontology: Ontology) -> None:
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
                hint = self._free_type_hint(name)
                yield UnknownName("relationship type", name, resolved.where, "", self._types, certain, hint)
        yield from self.label(resolved.step.target_label, resolved.where)

    def _free_type_hint(self, name: str) -> str:
        """A hint for an unknown Neo4j type that may be the free word of relationships."""
        properties = [item for kind in self._schema.relationship_types for item in kind.properties]
        owners = [item for item in properties if item.name == FREE_TYPE]
        words = {word.casefold(): word for item in owners for word in item.examples}
        stored = words.get(name.casefold())
        if not owners or (stored is None and closest_names(name, self._types)):
            return ""
        constraint = {
            "type": "PROPERTY_EQUALS",
            "on": "relationship",
            "property_path": FREE_TYPE,
            "value": stored or name,
        }
        it = "It" if stored else "If it"
        example = json.dumps(constraint, ensure_ascii=False)
        fix = f"omit relation_type and give a pattern the constraint {example}"
        return f"{it} is a value of the property {FREE_TYPE}: {fix}."

    def _constraint(self, sequence: StepSequence, constraint: Constraint) -> Iterator[UnknownName]:
        place = constraint.at_step
        where = f"{sequence.where}, {place_name(place)}"
        yield from self.label(constraint.node_label, where)
        if constraint.on == "relationship":
            owners = self._relationships(sequence.types_at(place))
        elif constraint.node_label is None:
            owners = self._nodes(sequence.labels_at(place))
        else:
            owners = self._nodes([constraint.node_label])
        yield from self._property(constraint.property_path, owners, where)
        if other := constraint.value_from:
            where = f"{sequence.where}, value_from {place_name(other.at_step)}"
            yield from self._property(other.property_path, self._nodes([sequence.label_at(other.at_step)]), where)

    def _nodes(self, labels: Iterable[str | None]) -> _PropertyOwners:
        distinct = set(labels)
        named = sorted(label for label in distinct if label is not None and None not in distinct)
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

    def _property(self, path: str, owners: _PropertyOwners, where: str) -> Iterator[UnknownName]:
        name = property_parts(path)[0]
        existing = owners.own | {item.name for part in owners.parts if part is not None for item in part.properties}
        if name not in existing:
            complete = [part is not None and not part.sampled for part in owners.parts]
            certain = bool(complete) and all(complete) and not self._schema.is_partial
            # A property that is never returned cannot be compared with either: the result would reveal its value.
            certain |= name in self._hidden or name.lower().endswith("embedding")
            is_misplaced = owners.own == _NODE_PROPERTIES and name in _OF_RELATIONSHIPS_ONLY
            hint = 'It is a property of relationships: add "on": "relationship".' if is_misplaced else ""
            yield UnknownName("property", name, where, owners.of, frozenset(existing), certain, hint)
