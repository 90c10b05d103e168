"""Why patterns may match nothing: what is never joined, values in another form, properties that nothing has."""

from collections.abc import Iterable, Iterator, Sequence

from kgagent.errors import InputError
from kgagent.graph.records import LEVEL_FIELDS
from kgagent.models.constraint import LISTS, ConstraintType
from kgagent.models.live_schema import LiveProperty, LiveRelationshipType, LiveSchema, ValueKind
from kgagent.models.pattern import GraphPattern, StepDirection
from kgagent.ontology import Ontology
from kgagent.patterns.names import find_unknown_names
from kgagent.patterns.step_sequences import (
    ConstraintScope,
    ResolvedStep,
    StepSequence,
    place_name,
    property_parts,
    step_sequences,
)
from kgagent.suggestions import shorten_name

MAX_HINTS = 10
MAX_PAIRS = 3

_End = str | None
_Pair = tuple[_End, _End]
"""Labels of the start and of the end of a relationship, as it is stored; None is any."""


def hints(patterns: Iterable[GraphPattern], schema: LiveSchema, ontology: Ontology) -> tuple[str, ...]:
    """Say what in patterns keeps them from matching, or seems to; did_you_mean for when nothing matched.

    Args:
        patterns: what was asked; their names exist, see `check_names`.
        schema: what the user's graph holds.
        ontology: what it may hold.

    Returns:
        One sentence each, at most ten.
    """
    asked = tuple(patterns)
    along = [sequence for pattern in asked for sequence in step_sequences(pattern)]
    found = [told for sequence in along for resolved in sequence.steps for told in _of(resolved, schema)]
    found += [told for sequence in along for told in value_hints(sequence, schema, ontology)]
    found += [str(unknown) for unknown in find_unknown_names(asked, schema, ontology)]
    return tuple(dict.fromkeys(found))[:MAX_HINTS]


def _of(resolved: ResolvedStep, schema: LiveSchema) -> Iterator[str]:
    """What is wrong with one step."""
    if schema.is_partial:
        return
    missing = [f"there is no node with label {shorten_name(label)} yet" for label in _absent_labels(resolved, schema)]
    missing += [
        f"there is no relationship of type {shorten_name(name)} yet"
        for name in resolved.step.types
        if schema.relationship_type(name) is None
    ]
    for told in missing:
        yield f"{resolved.where}: {told}."
    types = [kind for kind in schema.relationship_types if not resolved.step.types or kind.name in resolved.step.types]
    if missing or not types:
        return
    for pair in _wanted(resolved):
        stored = _stored(pair, resolved.step.direction)
        if pair != (None, None) and not any(_joins(kind, asked) for kind in types for asked in stored):
            yield f"{resolved.where}: {_pair_hint(types, pair, resolved)}."


def _absent_labels(resolved: ResolvedStep, schema: LiveSchema) -> list[str]:
    labels = dict.fromkeys((resolved.source, resolved.target))
    return [label for label in labels if label is not None and schema.label(label) is None]


def _wanted(resolved: ResolvedStep) -> list[_Pair]:
    """The labels that a relationship of the step must join; where it repeats, those of its first and of its last."""
    if resolved.step.repeats:
        return [(resolved.source, None), (None, resolved.target)]
    return [(resolved.source, resolved.target)]


def _stored(pair: _Pair, direction: StepDirection) -> list[_Pair]:
    """The pair of a step as its relationship is stored; both ways where either will do."""
    start, end = pair
    return {
        StepDirection.OUTGOING: [(start, end)],
        StepDirection.INCOMING: [(end, start)],
        StepDirection.BOTH: [(start, end), (end, start)],
    }[direction]


def _joins(kind: LiveRelationshipType, asked: _Pair) -> bool:
    start, end = asked
    return any(start in {None, pair.from_label} and end in {None, pair.to_label} for pair in kind.pairs)


def _pair_hint(types: Sequence[LiveRelationshipType], pair: _Pair, resolved: ResolvedStep) -> str:
    """What is never joined, and what is."""
    direction = resolved.step.direction
    name = " or ".join(shorten_name(kind.name) for kind in types) if resolved.step.types else "relationship"
    asked = _stored(pair, direction)[0]
    verb = "joins" if direction is StepDirection.BOTH else "leads"
    subject = f"none of the {name} looked at" if any(kind.sampled for kind in types) else f"no {name}"
    told = f"{subject} {verb} {_between(asked, both=direction is StepDirection.BOTH)}"
    opposite = asked[::-1]
    if direction is not StepDirection.BOTH and any(_joins(kind, opposite) for kind in types):
        return f"{told}, but the other way round: take direction {direction.reversed}"
    ways = _ways(types, pair, with_type=len(types) > 1)
    return f"{told}; {ways}" if ways else told


def _between(pair: _Pair, *, both: bool) -> str:
    start, end = (None if label is None else shorten_name(label) for label in pair)
    if both:
        return " and ".join(label for label in (start, end) if label is not None) + ("" if start and end else " at all")
    return " ".join(part for part in (start and f"from {start}", end and f"to {end}") if part)


def _ways(types: Sequence[LiveRelationshipType], pair: _Pair, *, with_type: bool) -> str:
    """The most frequent ways, those that have to do with the labels asked for before others."""
    joined = [(kind.name, way) for kind in types for way in kind.pairs]
    joined.sort(key=lambda item: (not {item[1].from_label, item[1].to_label} & {*pair}, -item[1].count))
    told = [
        f"{f'{shorten_name(name)} leads ' if with_type else ''}from {shorten_name(way.from_label)} "
        f"to {shorten_name(way.to_label)}"
        for name, way in joined[:MAX_PAIRS]
    ]
    return ("" if with_type or not told else "it leads ") + ", ".join(told)


_EQUALS = frozenset({ConstraintType.PROPERTY_EQUALS, *LISTS})


def value_hints(sequence: StepSequence, schema: LiveSchema, ontology: Ontology) -> Iterator[str]:
    """Say which values along a sequence cannot equal any that is stored, as far as the schema tells."""
    for constraint in sequence.constraints:
        parts = property_parts(constraint.property_path)
        if constraint.type not in _EQUALS or constraint.value_from is not None or len(parts) > 1:
            continue
        scope = sequence.scope(constraint)
        properties = _properties(parts[0], scope, schema)
        for value in constraint.value if isinstance(constraint.value, list) else [constraint.value]:
            if isinstance(value, str) and (told := _value_hint(value, properties, scope, ontology)):
                yield f"{sequence.where}, {place_name(constraint.at_step)}: {told}."


def _properties(name: str, scope: ConstraintScope, schema: LiveSchema) -> list[LiveProperty]:
    """The property of that name, as each label or type that a constraint is about has it."""
    asked = set(scope.types) if scope.on == "relationship" else {scope.label} - {None}
    parts = schema.relationship_types if scope.on == "relationship" else schema.labels
    holders = [part for part in parts if not asked or part.name in asked]
    return [item for part in holders for item in part.properties if item.name == name]


def _value_hint(value: str, properties: Iterable[LiveProperty], scope: ConstraintScope, ontology: Ontology) -> str:
    stored = dict.fromkeys(text for item in properties for text in item.examples)
    kinds = {kind for item in properties for kind in item.kinds}
    [name] = {item.name for item in properties} or {""}
    same = [text for text in stored if text.casefold() == value.strip().casefold()]
    if same and value not in same:
        return f"{name} is stored as {' or '.join(map(repr, map(shorten_name, same)))}, not {shorten_name(value)!r}"
    if kinds == {ValueKind.NUMBER}:
        level = _level(value, name, scope, ontology) if name in LEVEL_FIELDS else None
        return f"{name} is a number, not text such as {shorten_name(value)!r}" + (f": give {level}" if level else "")
    return ""


def _level(value: str, name: str, scope: ConstraintScope, ontology: Ontology) -> str:
    """The levels that a word stands for, each with its type where they differ."""
    found: dict[int, list[str]] = {}
    for neo4j_type in scope.types or ontology.relationships:
        try:
            level = ontology.level(neo4j_type, name, value)
        except InputError:
            continue
        found.setdefault(level or 0, []).append(neo4j_type)
    if len(found) == 1:
        return str(next(iter(found)))
    return " or ".join(f"{level} for {', '.join(types)}" for level, types in sorted(found.items()))
