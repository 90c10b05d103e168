"""Notes of one call about the same record, written together: one read and one write for all of them."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.compare_and_set import WriteStrategy, compare_and_set
from kgagent.tools.remember_plan import RememberedNodeIntent, RememberedRelationshipIntent
from kgagent.tools.remember_results import ListName

IntentT = TypeVar("IntentT", RememberedNodeIntent, RememberedRelationshipIntent)
ResultT = TypeVar("ResultT")

Place = tuple[ListName, int]
"""The list and the position of an item."""


async def write_with_joined_notes(
    strategy: WriteStrategy[IntentT, Any, Any, ResultT], intents: Mapping[Place, IntentT], *, attempts: int
) -> tuple[dict[Place, IntentT], dict[Place, ResultT | KgAgentError]]:
    """Write items; successive notes about the same record are one write, each on its own if that is refused.

    Args:
        strategy: how to write.
        intents: the items, in order.
        attempts: maximum number of attempts for an intent that meets conflicts, from 1.

    Returns:
        What was written, and the outcomes. Notes that were joined stand at the place of the first of them, except that
        an error stands at the place of each.
    """
    joined: dict[Place, IntentT] = {}
    groups: dict[Place, dict[Place, IntentT]] = {}
    latest: dict[Hashable, Place] = {}
    for place, intent in intents.items():
        identity = strategy.identity(intent)
        first = latest.get(identity, place)
        if first != place and _are_notes_alike(first, joined[first], place, intent):
            joined[first] = replace(joined[first], notes=joined[first].notes + intent.notes)
        else:
            first = latest[identity] = place
            joined[place] = intent
        groups.setdefault(first, {})[place] = intent
    outcomes = await _written(strategy, joined, attempts)
    failed = {first: groups[first] for first, outcome in outcomes.items() if isinstance(outcome, KgAgentError)}
    refused: dict[Place, IntentT] = {}
    for first, group in failed.items():
        if len(group) > 1 and isinstance(outcomes[first], InputError):
            refused |= group
        joined |= group
        outcomes |= dict.fromkeys(group, outcomes[first])
    return joined, outcomes | await _written(strategy, refused, attempts)


async def _written(
    strategy: WriteStrategy[IntentT, Any, Any, ResultT], intents: Mapping[Place, IntentT], attempts: int
) -> dict[Place, ResultT | KgAgentError]:
    return dict(zip(intents, await compare_and_set(strategy, list(intents.values()), attempts=attempts), strict=True))


def _are_notes_alike(first: Place, one: IntentT, place: Place, other: IntentT) -> bool:
    """Whether two items of the list of notes add notes and differ in nothing else."""
    if {first[0], place[0]} != {"notes"} or one.correction or other.correction:
        return False
    return replace(one, notes=()) == replace(other, notes=())
