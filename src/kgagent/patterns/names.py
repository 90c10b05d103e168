"""Checks that the labels, relationship types and properties in patterns exist."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.errors import InputError
from kgagent.formatting import listed
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.property_names import INTERNAL_PROPERTIES, LEVEL_FIELDS
from kgagent.models.live_schema import LiveLabel, LiveRelationshipType, LiveSchema
from kgagent.models.pattern import GraphPattern
from kgagent.names import closest_names, did_you_mean, shorten_name
from kgagent.ontology import Ontology
from kgagent.patterns.step_sequences import StepSequence, place_name, property_parts, step_sequences

MAX_PROBLEMS = 5
"""Maximum number of unknown names in one error."""

FREE_TYPE = "relationship_type"
"""The property that holds the free word of a relationship, such as "mentor"."""

_COMMON_PROPERTIES = frozenset({"description", "notes", "created_at", "updated_at"})
_NODE_PROPERTIES = _COMMON_PROPERTIES | {"entity_key", "name"}
_OF_RELATIONSHIPS_ONLY = frozenset({FREE_TYPE, *LEVEL_FIELDS})

_PLURALS = {"label": "labels", "relationship type": "relationship types", "property": "properties"}


@dataclass(frozen=True)
class UnknownName:
    """A name in a pattern that does not exist.

    Attributes:
        kind: what the name should refer to.
        name: the name.
        where: the pattern and the step.
        existing: names that exist.
        of: labels or types that should have the property; empty for labels and types.
        hint: what to do instead.
    """

    kind: Literal["label", "relationship type", "property"]
    name: str
    where: str
    existing: frozenset[str]
    of: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """The problem, and the hint or else the most similar name."""
        of = f" of {self.of}" if self.of else ""
        problem = f"Unknown {self.kind} {shorten_name(self.name)!r}{of} in {self.where}."
        return f"{problem} {self.hint or did_you_mean(self.name, self.existing)}".strip()

    @property
    def alternatives(self) -> str:
        """All names that exist."""
        return (
            f"Existing {_PLURALS[self.kind]}{f' of {self.of}' if self.of else ''}: "
            f"{listed(list(map(shorten_name, sorted(self.existing)))) or 'none'}."
        )


async def checked_schema(
    patterns: Iterable[GraphPattern], reader: LiveSchemaReader, user_id: str, ontology: Ontology
) -> LiveSchema:
    """Read the schema of a user's graph, and check that the names in patterns exist; see
    `check_names`.

    A name that is missing from the cached schema may be new, so the schema is read again before an
    error is raised.

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

    Names of the ontology exist even if the user's graph does not use them yet. A name is an error
    only if everything that could have it was read.

    Raises:
        InputError: names do not exist; the error lists the first five, with similar names.
    """
    checker = _NameChecker(schema, ontology)
    sequences = (sequence for pattern in patterns for sequence in step_sequences(pattern))
    problems: dict[tuple[str, ...], UnknownName] = {}
    for problem in (problem for sequence in sequences for problem in checker.problems(sequence)):
        problems.setdefault((problem.kind, problem.name, problem.of), problem)
    if not problems:
        return
    listed = list(problems.values())[:MAX_PROBLEMS]
    lines = [*map(str, listed), *dict.fromkeys(problem.alternatives for problem in listed)]
    if len(problems) > len(listed):
        lines.append(f"{len(problems) - len(listed)} more names do not exist.")
    raise InputError(" ".join(lines))


def check_label(name: str, schema: LiveSchema, ontology: Ontology, where: str) -> None:
    """Check that a label exists.

    Raises:
        InputError: it does not; the error lists the labels that do.
    """
    labels = frozenset(label.name for label in schema.labels) | frozenset(ontology.labels)
    if name not in labels:
        problem = UnknownName("label", name, where, labels)
        raise InputError(f"{problem} {problem.alternatives}")


class _NameChecker:
    """Checks names against the schema of a user and the ontology."""

    def __init__(self, schema: LiveSchema, ontology: Ontology) -> None:
        self._is_partial = schema.is_partial
        self._ontology = ontology
        self._live_labels = {label.name: label for label in schema.labels}
        self._live_types = {kind.name: kind for kind in schema.relationship_types}
        self._labels = frozenset(self._live_labels) | frozenset(ontology.labels)
        self._types = frozenset(self._live_types) | frozenset(ontology.relationships)
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties

    def problems(self, sequence: StepSequence) -> Iterator[UnknownName]:
        for number, step in enumerate(sequence.steps):
            where = f"{sequence.where}, step {number}"
            yield from self._label(step.source_label, where)
            for name in step.types:
                if name not in self._types and not self._is_partial:
                    hint = self._free_type_hint(name)
                    yield UnknownName("relationship type", name, where, self._types, hint=hint)
            yield from self._label(step.target_label, where)
        for constraint in sequence.constraints:
            where = f"{sequence.where}, {place_name(constraint.at_step)}"
            yield from self._label(constraint.node_label, where)
            scope = sequence.scope(constraint)
            yield from self._property(constraint.property_path, constraint.on, scope, where)
            if other := constraint.value_from:
                where = f"{sequence.where}, value_from {place_name(other.at_step)}"
                labels = filter(None, [sequence.label_at(other.at_step)])
                yield from self._property(other.property_path, "node", tuple(labels), where)

    def _label(self, name: str | None, where: str) -> Iterator[UnknownName]:
        if name is not None and name not in self._labels and not self._is_partial:
            yield UnknownName("label", name, where, self._labels)

    def _free_type_hint(self, name: str) -> str:
        """A hint for an unknown Neo4j type that may be the free word of relationships."""
        properties = [item for kind in self._live_types.values() for item in kind.properties]
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

    def _property(
        self, path: str, on: str, scope: Sequence[str], where: str
    ) -> Iterator[UnknownName]:
        """The property of a path, unless the nodes or relationships of some labels or types may
        have it.
        """
        name = property_parts(path)[0]
        owners: Sequence[LiveLabel | LiveRelationshipType | None]
        if on == "relationship":
            owners = [self._live_types.get(owner) for owner in scope or self._live_types]
            is_of_ontology = not self._ontology.relationships.keys().isdisjoint(
                scope or self._types
            )
            own = (
                _COMMON_PROPERTIES
                | _OF_RELATIONSHIPS_ONLY
                | frozenset(self._ontology.relationship_defaults)
            )
        else:
            owners = [self._live_labels.get(owner) for owner in scope or self._live_labels]
            is_of_ontology = not self._ontology.labels.keys().isdisjoint(scope or self._labels)
            own = _NODE_PROPERTIES
        read = {item.name for owner in owners if owner is not None for item in owner.properties}
        existing = (read | own if is_of_ontology else read) - self._hidden
        # A property that is never returned cannot be compared with either: the result would reveal
        # its value.
        is_hidden = name in self._hidden or name.lower().endswith("embedding")
        is_complete = (
            bool(owners)
            and not self._is_partial
            and all(owner and not owner.sampled for owner in owners)
        )
        if name in existing or not (is_hidden or is_complete):
            return
        is_misplaced = on == "node" and is_of_ontology and name in _OF_RELATIONSHIPS_ONLY
        hint = (
            'It is a property of relationships: add "on": "relationship".' if is_misplaced else ""
        )
        of = " or ".join(map(shorten_name, sorted(scope))) or f"any {on}"
        yield UnknownName("property", name, where, frozenset(existing), of, hint)
