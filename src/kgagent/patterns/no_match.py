"""Says why patterns match nothing, as far as the schema of the graph tells: steps whose types never
connect their labels, and values that are not among the stored ones.
"""

from collections.abc import Iterator

from kgagent.models.constraint import EQUALITY_TYPES, Constraint
from kgagent.models.live_schema import LabelPair, LiveSchema
from kgagent.models.pattern import StepDirection
from kgagent.models.pattern_query import GraphQuery
from kgagent.names import shorten_name
from kgagent.patterns.step_sequences import StepSequence, place_name, property_parts, step_sequences

MAX_REASONS = 5
"""Maximum number of messages."""

MAX_LISTED = 3
"""Maximum number of connections, or of stored values, that a message lists."""

MAX_VALUE_LENGTH = 60
"""Characters of a value that a message repeats."""


def explain_no_match(query: GraphQuery, schema: LiveSchema) -> list[str]:
    """Explain why a query with patterns matches nothing, in at most five messages.

    Args:
        query: the query; its names exist.
        schema: what the user's graph holds.
    """
    sequences = [sequence for pattern in query.all_patterns for sequence in step_sequences(pattern)]
    reasons = dict.fromkeys(
        reason
        for explain in (_excluded_steps, _unknown_values)
        for sequence in sequences
        for reason in explain(sequence, schema)
    )
    return list(reasons)[:MAX_REASONS]


def _excluded_steps(sequence: StepSequence, schema: LiveSchema) -> Iterator[str]:
    """Steps whose relationship types never connect their labels, and what these types connect."""
    if schema.is_partial:
        return
    for number, step in enumerate(sequence.steps):
        types = [
            kind for kind in schema.relationship_types if not step.types or kind.name in step.types
        ]
        stored = [(kind.name, pair) for kind in types for pair in kind.pairs]
        start, end = sequence.labels[number : number + 2]
        for ends in [(start, None), (None, end)] if step.repeats else [(start, end)]:
            if any(_connects(pair, ends, step.direction) for _, pair in stored):
                continue
            name = " or ".join(map(shorten_name, step.types)) or "relationship"
            read = "none of the sampled" if any(kind.sampled for kind in types) else "no"
            labels = " and ".join(map(shorten_name, (label or "any node" for label in ends)))
            stored.sort(
                key=lambda item: (
                    not {item[1].from_label, item[1].to_label} & {*ends},
                    -item[1].count,
                )
            )
            listed = ", ".join(
                f"{kind} leads from {pair.from_label} to {pair.to_label}"
                for kind, pair in stored[:MAX_LISTED]
            )
            excluded = (
                f"{sequence.where}, step {number}: {read} {name} connects {labels} in direction "
                f"{step.direction}"
            )
            yield f"{excluded}; {listed}" if listed else excluded


def _connects(
    pair: LabelPair, ends: tuple[str | None, str | None], direction: StepDirection
) -> bool:
    start, end = ends
    forward = start in {None, pair.from_label} and end in {None, pair.to_label}
    backward = start in {None, pair.to_label} and end in {None, pair.from_label}
    return (forward and direction is not StepDirection.INCOMING) or (
        backward and direction is not StepDirection.OUTGOING
    )


def _unknown_values(sequence: StepSequence, schema: LiveSchema) -> Iterator[str]:
    """Constraints that require a value that is not among the typical ones, with those."""
    for constraint in sequence.constraints:
        if constraint.type in EQUALITY_TYPES and constraint.value_from is None:
            stored = _stored_values(constraint, sequence, schema)
            if stored:
                yield (
                    f"{sequence.where}, {place_name(constraint.at_step)}: {constraint.type} "
                    f"{constraint.property_path} {repr(constraint.value)[:MAX_VALUE_LENGTH]}, but "
                    f"typical stored values are {stored}"
                )


def _stored_values(constraint: Constraint, sequence: StepSequence, schema: LiveSchema) -> str:
    """Typical stored values, or their kinds; empty if what is required is among them."""
    scope, [name, *inside] = sequence.scope(constraint), property_parts(constraint.property_path)
    records = schema.relationship_types if constraint.on == "relationship" else schema.labels
    read = [
        item
        for record in records
        if not scope or record.name in scope
        for item in record.properties
    ]
    properties = [item for item in read if item.name == name and not inside]
    examples = dict.fromkeys(value for item in properties for value in item.examples)
    if not examples.keys().isdisjoint(map(str, constraint.compared_values)):
        return ""
    kinds = dict.fromkeys(kind for item in properties for kind in item.kinds)
    return ", ".join(map(repr, list(examples)[:MAX_LISTED])) or " or ".join(kinds)
