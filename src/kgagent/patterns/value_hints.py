"""Values in constraints that are stored in another form: in another letter case, or as a number instead of a word."""

from collections.abc import Iterable, Iterator

from kgagent.errors import InputError
from kgagent.graph.records import LEVEL_FIELDS
from kgagent.models.constraint import LISTS, ConstraintType
from kgagent.models.live_schema import LiveProperty, LiveSchema, ValueKind
from kgagent.ontology import Ontology
from kgagent.patterns.places import ConstraintScope, StepSequence, place_name, property_parts
from kgagent.suggestions import shorten_name

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
            if isinstance(value, str) and (told := _told(value, properties, scope, ontology)):
                yield f"{sequence.where}, {place_name(constraint.at_step)}: {told}."


def _properties(name: str, scope: ConstraintScope, schema: LiveSchema) -> list[LiveProperty]:
    """The property of that name, as each label or type that a constraint is about has it."""
    asked = set(scope.types) if scope.on == "relationship" else {scope.label} - {None}
    parts = schema.relationship_types if scope.on == "relationship" else schema.labels
    holders = [part for part in parts if not asked or part.name in asked]
    return [item for part in holders for item in part.properties if item.name == name]


def _told(value: str, properties: Iterable[LiveProperty], scope: ConstraintScope, ontology: Ontology) -> str:
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
