"""Notes of one call about the same record, written together: one read and one write for all of them."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from kgagent.errors import EmbeddingResponseError, InputError, KgAgentError
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
    """Write items; the last notes about a record are one write, each on its own if that is refused.

    Notes that another item about their record follows are not joined: written later, after a refusal, they would come
    too late for its correction.

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
    firsts = _firsts_of_notes(strategy, intents)
    for place, intent in intents.items():
        first = firsts.get(place, place)
        before = joined.get(first)
        joined[first] = replace(before, notes=before.notes + intent.notes) if before else intent
        groups.setdefault(first, {})[place] = intent
    outcomes = await _written(strategy, joined, attempts)
    failed = {first: groups[first] for first, outcome in outcomes.items() if isinstance(outcome, KgAgentError)}
    refused: dict[Place, IntentT] = {}
    for first, group in failed.items():
        if len(group) > 1 and isinstance(outcomes[first], InputError | EmbeddingResponseError):
            refused |= group
        joined |= group
        outcomes |= dict.fromkeys(group, outcomes[first])
    return joined, outcomes | await _written(strategy, refused, attempts)


def _firsts_of_notes(
    strategy: WriteStrategy[IntentT, Any, Any, ResultT], intents: Mapping[Place, IntentT]
) -> dict[Place, Place]:
    """For each of the last notes about a record, the first of them."""
    last: dict[Hashable, list[Place]] = {}
    ended: set[Hashable] = set()
    for place, intent in reversed(list(intents.items())):
        identity = strategy.identity(intent)
        notes = last.setdefault(identity, [place])
        if identity in ended or not _are_notes_alike(place, intent, notes[-1], intents[notes[-1]]):
            ended.add(identity)
        else:
            notes.append(place)
    return {place: notes[-1] for notes in last.values() for place in notes}


async def _written(
    strategy: WriteStrategy[IntentT, Any, Any, ResultT], intents: Mapping[Place, IntentT], attempts: int
) -> dict[Place, ResultT | KgAgentError]:
    return dict(zip(intents, await compare_and_set(strategy, list(intents.values()), attempts=attempts), strict=True))


def _are_notes_alike(first: Place, one: IntentT, place: Place, other: IntentT) -> bool:
    """Whether two items of the list of notes add notes and differ in nothing else."""
    if {first[0], place[0]} != {"notes"} or one.correction or other.correction:
        return False
    return replace(one, notes=()) == replace(other, notes=())
