"""Explains from the schema why patterns may match nothing: labels that are never connected, values in another form."""

from collections.abc import Iterable, Iterator, Sequence

from kgagent.errors import InputError
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.models.constraint import EQUALITY_TYPES
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
"""Labels of the start and the end node of a stored relationship; None for any."""


def hints(patterns: Iterable[GraphPattern], schema: LiveSchema, ontology: Ontology) -> tuple[str, ...]:
    """Parts of patterns that cannot match, or probably cannot. Meant for patterns that matched nothing.

    Args:
        patterns: patterns whose names exist, see `check_names`.
        schema: what the user's graph holds.
        ontology: what it may hold.

    Returns:
        At most ten messages of one sentence each.
    """
    checked = tuple(patterns)
    sequences = [sequence for pattern in checked for sequence in step_sequences(pattern)]
    messages = [hint for sequence in sequences for resolved in sequence.steps for hint in _step_hints(resolved, schema)]
    messages += [hint for sequence in sequences for hint in value_hints(sequence, schema, ontology)]
    messages += [str(unknown) for unknown in find_unknown_names(checked, schema, ontology)]
    return tuple(dict.fromkeys(messages))[:MAX_HINTS]


def _step_hints(resolved: ResolvedStep, schema: LiveSchema) -> Iterator[str]:
    """Why one step cannot match."""
    if schema.is_partial:
        return
    missing = [f"there is no node with label {shorten_name(label)}" for label in _absent_labels(resolved, schema)]
    missing += [
        f"there is no relationship of type {shorten_name(name)}"
        for name in resolved.step.types
        if schema.relationship_type(name) is None
    ]
    for problem in missing:
        yield f"{resolved.where}: {problem}."
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
    """The labels that a relationship of the step connects; for a repeated step, those of its first and last one."""
    if resolved.step.repeats:
        return [(resolved.source, None), (None, resolved.target)]
    return [(resolved.source, resolved.target)]


def _stored(pair: _Pair, direction: StepDirection) -> list[_Pair]:
    """The pair in the direction in which the relationship is stored; both directions for BOTH."""
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
    """Which labels are never connected, and which are."""
    direction = resolved.step.direction
    name = " or ".join(shorten_name(kind.name) for kind in types) if resolved.step.types else "relationship"
    asked = _stored(pair, direction)[0]
    verb = "connects" if direction is StepDirection.BOTH else "leads"
    subject = f"none of the sampled {name}" if any(kind.sampled for kind in types) else f"no {name}"
    problem = f"{subject} {verb} {_between(asked, both=direction is StepDirection.BOTH)}"
    opposite = asked[::-1]
    if direction is not StepDirection.BOTH and any(_joins(kind, opposite) for kind in types):
        return f"{problem}, only the opposite: use direction {direction.reversed}"
    ways = _ways(types, pair, with_type=len(types) > 1)
    return f"{problem}; {ways}" if ways else problem


def _between(pair: _Pair, *, both: bool) -> str:
    start, end = (None if label is None else shorten_name(label) for label in pair)
    if both:
        return " and ".join(label for label in (start, end) if label is not None) + ("" if start and end else " at all")
    return " ".join(part for part in (start and f"from {start}", end and f"to {end}") if part)


def _ways(types: Sequence[LiveRelationshipType], pair: _Pair, *, with_type: bool) -> str:
    """The most frequent connections, those with one of the wanted labels first."""
    joined = [(kind.name, way) for kind in types for way in kind.pairs]
    joined.sort(key=lambda item: (not {item[1].from_label, item[1].to_label} & {*pair}, -item[1].count))
    ways = [
        f"{f'{shorten_name(name)} leads ' if with_type else ''}from {shorten_name(way.from_label)} "
        f"to {shorten_name(way.to_label)}"
        for name, way in joined[:MAX_PAIRS]
    ]
    return ("" if with_type or not ways else "it leads ") + ", ".join(ways)


def value_hints(sequence: StepSequence, schema: LiveSchema, ontology: Ontology) -> Iterator[str]:
    """Values in constraints that no stored value can equal, according to the schema."""
    for constraint in sequence.constraints:
        parts = property_parts(constraint.property_path)
        if constraint.type not in EQUALITY_TYPES or constraint.value_from is not None or len(parts) > 1:
            continue
        scope = sequence.scope(constraint)
        properties = _properties(parts[0], scope, schema)
        for value in constraint.compared_values:
            if isinstance(value, str) and (hint := _value_hint(value, properties, scope, ontology)):
                yield f"{sequence.where}, {place_name(constraint.at_step)}: {hint}."


def _properties(name: str, scope: ConstraintScope, schema: LiveSchema) -> list[LiveProperty]:
    """The property of each label or type to which a constraint applies."""
    names = set(scope.types) if scope.on == "relationship" else {scope.label} - {None}
    parts = schema.relationship_types if scope.on == "relationship" else schema.labels
    owners = [part for part in parts if not names or part.name in names]
    return [item for part in owners for item in part.properties if item.name == name]


def _value_hint(value: str, properties: Iterable[LiveProperty], scope: ConstraintScope, ontology: Ontology) -> str:
    stored = dict.fromkeys(text for item in properties for text in item.examples)
    kinds = {kind for item in properties for kind in item.kinds}
    [name] = {item.name for item in properties} or {""}
    same = [text for text in stored if text.casefold() == value.strip().casefold()]
    if same and value not in same:
        return f"{name} is stored as {' or '.join(map(repr, map(shorten_name, same)))}, not {shorten_name(value)!r}"
    if kinds == {ValueKind.NUMBER}:
        level = _level(value, name, scope, ontology) if name in LEVEL_FIELDS else None
        return f"{name} is a number, not text such as {shorten_name(value)!r}" + (f": use {level}" if level else "")
    return ""


def _level(value: str, name: str, scope: ConstraintScope, ontology: Ontology) -> str:
    """The levels that a word stands for, each with its types if they differ."""
    types_of_level: dict[int, list[str]] = {}
    for neo4j_type in scope.types or ontology.relationships:
        try:
            level = ontology.level(neo4j_type, name, value)
        except InputError:
            continue
        types_of_level.setdefault(level or 0, []).append(neo4j_type)
    if len(types_of_level) == 1:
        return str(next(iter(types_of_level)))
    return " or ".join(f"{level} for {', '.join(types)}" for level, types in sorted(types_of_level.items()))
