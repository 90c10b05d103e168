"""Finds out why patterns match nothing: steps that the schema excludes, otherwise variants of a
pattern that match.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kgagent.bounded_map import bounded_map
from kgagent.errors import StoreError
from kgagent.models.constraint import EQUALITY_TYPES, Constraint
from kgagent.models.live_schema import LabelPair, LiveSchema
from kgagent.models.pattern import GraphPattern, StepDirection
from kgagent.models.pattern_query import CombinatorType, GraphQuery
from kgagent.names import shorten_name
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.narrowing import matched_paths
from kgagent.patterns.plans import QueryPlan, join_position
from kgagent.patterns.reads import UserReads
from kgagent.patterns.step_sequences import StepSequence, place_name, property_parts, step_sequences

MAX_REASONS = 5
"""Maximum number of messages."""

MAX_VARIANTS = 24
"""Maximum number of variants, besides each pattern alone."""

MAX_LISTED = 3
"""Maximum number of connections, or of stored values, that a message lists."""

MAX_VALUE_LENGTH = 60
"""Characters of a value that a message repeats."""

CONCURRENT_STATEMENTS = 4

QUICK_SECONDS = 0.3
"""Time that a statement may take before it is narrowed: that no path matches, narrowing finds out
faster.
"""


async def explain_no_match(
    query: GraphQuery, schema: LiveSchema, reads: UserReads, compiler: Compiler
) -> list[str]:
    """Explain why a query with patterns matches nothing.

    Args:
        query: the query; its names exist.
        schema: what the user's graph holds.
        reads: runs the statements that match variants, within its time limit.
        compiler: compiles them.

    Returns:
        At most five messages.
    """
    sequences = [sequence for pattern in query.all_patterns for sequence in step_sequences(pattern)]
    reasons = list(
        dict.fromkeys(
            reason for sequence in sequences for reason in _excluded_steps(sequence, schema)
        )
    )
    return reasons[:MAX_REASONS] or await _matching_variants(query, schema, reads, compiler)


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


@dataclass(frozen=True)
class _Variant:
    """A pattern that differs from the original in one part.

    Attributes:
        finding: the message if the variant matches.
        pattern: the pattern.
        compiler: compiles it.
    """

    finding: str
    pattern: GraphPattern
    compiler: Compiler


async def _matching_variants(
    query: GraphQuery, schema: LiveSchema, reads: UserReads, compiler: Compiler
) -> list[str]:
    """Descriptions of variants that match; those that were found when the time was over."""
    findings: dict[int, str] = {}

    async def matches(variant: _Variant) -> bool:
        """Whether a variant has a path; a statement that fails or takes too long counts as none."""
        plan = QueryPlan((variant.pattern,))
        with suppress(StoreError):
            return bool(
                await matched_paths(reads, variant.compiler, plan, 1, quick_seconds=QUICK_SECONDS)
            )
        return False

    async def attempt(numbered: tuple[int, _Variant]) -> None:
        number, variant = numbered
        if await matches(variant):
            findings[number] = variant.finding

    unmatched: Sequence[GraphPattern] = query.all_patterns
    with suppress(TimeoutError):
        async with reads.enforced():
            # Without a combinator, the query has just shown that no pattern matches alone.
            if combinator := query.combinator:
                parts = [_Variant("", pattern, compiler) for pattern in unmatched]
                alone = await bounded_map(matches, parts, limit=CONCURRENT_STATEMENTS)
                unmatched = [
                    pattern
                    for pattern, is_matched in zip(unmatched, alone, strict=True)
                    if not is_matched
                ]
                if not unmatched and combinator.type is CombinatorType.SEQUENTIAL:
                    return [
                        "Each pattern matches alone, but none starts where the previous one ends"
                    ]
                if not unmatched:
                    place = place_name(join_position(combinator))
                    return [f"Each pattern matches alone, but they have no common node at {place}"]
            variants = [
                variant for pattern in unmatched for variant in _variants(pattern, schema, compiler)
            ]
            await bounded_map(
                attempt, enumerate(variants[:MAX_VARIANTS]), limit=CONCURRENT_STATEMENTS
            )
    return [findings[number] for number in sorted(findings)][:MAX_REASONS]


def _variants(pattern: GraphPattern, schema: LiveSchema, compiler: Compiler) -> Iterator[_Variant]:
    """The pattern without targets, without one of its constraints or branches, or with one step
    reversed.
    """
    name = f"Pattern {shorten_name(pattern.pattern_id)!r} matches"

    def changed(finding: str, **changes: object) -> _Variant:
        return _Variant(f"{name} {finding}", pattern.model_copy(update=changes), compiler)

    if (entry := QueryPlan((pattern,)).entered_at(compiler.entry_points)) is not None:
        free = replace(compiler, entry_points=())
        yield replace(changed(f"without a target at {place_name(entry.position)}"), compiler=free)
    sequence = next(step_sequences(pattern))
    for number, constraint in enumerate(pattern.constraints):
        finding = (
            f"without the constraint "
            f"{_describe(constraint)}{_stored_values(constraint, sequence, schema)}"
        )
        yield changed(finding, constraints=_replaced(pattern.constraints, number))
    for number in range(len(pattern.branches)):
        yield changed(f"without branch {number}", branches=_replaced(pattern.branches, number))
    for number, step in enumerate(pattern.steps):
        if (direction := step.direction.reversed) is not step.direction:
            steps = _replaced(
                pattern.steps, number, step.model_copy(update={"direction": direction})
            )
            yield changed(f"with direction {direction} at step {number}", steps=steps)


def _replaced(items: Sequence[object], number: int, *others: object) -> tuple[object, ...]:
    """The items with others in place of one of them."""
    return (*items[:number], *others, *items[number + 1 :])


def _describe(constraint: Constraint) -> str:
    if constraint.at_step == -1:
        where = "at every node" if constraint.on == "node" else "on every relationship"
    else:
        where = f"at {place_name(constraint.at_step)}"
    compared = (
        constraint.value_from.property_path if constraint.value_from else repr(constraint.value)
    )
    return f"{constraint.type} {constraint.property_path} {compared[:MAX_VALUE_LENGTH]} {where}"


def _stored_values(constraint: Constraint, sequence: StepSequence, schema: LiveSchema) -> str:
    """Typical stored values, or their kinds, if the constraint requires a value that is not among
    them.
    """
    if constraint.type not in EQUALITY_TYPES or constraint.value_from is not None:
        return ""
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
    listed = ", ".join(map(repr, list(examples)[:MAX_LISTED])) or " or ".join(kinds)
    return f" (stored: {listed})" if listed else ""
