"""Writes that take effect only if no other writer changed the record since it was read; otherwise
they are retried.
"""

import asyncio
import random
from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, TypeVar

from kgagent.errors import (
    ConflictError,
    ConstraintViolationError,
    EmbeddingResponseError,
    InputError,
    KgAgentError,
)

IntentT = TypeVar("IntentT")
StateT = TypeVar("StateT")
PlanT = TypeVar("PlanT")
ResultT = TypeVar("ResultT")
IntentT_contra = TypeVar("IntentT_contra", contravariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)

MAX_CONSECUTIVE_REFUSALS = 3
"""Number of consecutive texts that the model may refuse before the rest of their batch is
abandoned.
"""

MAX_PAUSE = 0.5
"""Maximum pause in seconds before a write is retried after a conflict."""


class WriteStrategy(Protocol[IntentT_contra, StateT, PlanT, ResultT_co]):
    """How one kind of write reads, decides and saves; `compare_and_set` does the rest."""

    def identity(self, intent: IntentT_contra) -> Hashable:
        """Identify the record of an intent."""
        ...

    async def read(self, intents: Sequence[IntentT_contra]) -> Sequence[StateT]:
        """Read the present state of the record of each intent; intents about one record share a
        state.
        """
        ...

    def plan(self, intent: IntentT_contra, state: StateT) -> PlanT:
        """Decide what to write, and leave in the state what the next intent about the record
        changes.

        Raises:
            InputError: the intent cannot be applied to this state.
        """
        ...

    async def save(self, plans: Mapping[int, PlanT]) -> Mapping[int, ResultT_co | KgAgentError]:
        """Embed and write; a plan that met a conflict is missing from the result."""
        ...


async def compare_and_set(
    strategy: WriteStrategy[IntentT, StateT, PlanT, ResultT],
    intents: Sequence[IntentT],
    *,
    attempts: int,
) -> list[ResultT | KgAgentError]:
    """Apply intents, each of which succeeds or fails on its own.

    All intents are read, embedded and written together; those about one record are applied one
    after the other.

    Args:
        strategy: how to read, decide and save.
        intents: what to do.
        attempts: maximum number of attempts for an intent that meets conflicts, from 1.

    Returns:
        For each intent, in order, its result or the error. An error of the embedder or the database
        is the outcome of every intent of that batch; earlier batches stay written.
    """
    outcomes: dict[int, ResultT | KgAgentError] = {}
    conflicts = dict.fromkeys(range(len(intents)), 0)
    while pending := [position for position in conflicts if position not in outcomes]:
        applied = await _apply(strategy, intents, pending)
        # A record that a concurrent write created is found when it is read again.
        refused = {
            one
            for one, outcome in applied.items()
            if isinstance(outcome, ConstraintViolationError) and not conflicts[one]
        }
        outcomes |= {position: applied[position] for position in applied.keys() - refused}
        retries = [position for position in pending if position not in outcomes]
        for position in retries:
            conflicts[position] += 1
            if conflicts[position] >= attempts:
                outcomes[position] = applied.get(position) or conflict_error(attempts)
        if any(position not in outcomes for position in retries):
            await pause_after(max(conflicts.values()))
    return [outcomes[position] for position in conflicts]


async def pause_after(conflicts: int) -> None:
    """Wait before a write is retried that has met some conflicts."""
    await asyncio.sleep(random.uniform(0, min(MAX_PAUSE, 0.01 * 2**conflicts)))  # noqa: S311


def conflict_error(attempts: int) -> ConflictError:
    """The error of a write that met a conflict in each attempt."""
    return ConflictError(
        f"Other writers changed the record in each of {attempts} attempts; nothing was written"
    )


async def _apply(
    strategy: WriteStrategy[IntentT, StateT, PlanT, ResultT],
    intents: Sequence[IntentT],
    batch: Sequence[int],
) -> dict[int, ResultT | KgAgentError]:
    """Apply a batch; if the model refuses one of its texts, apply each intent alone so that the
    others succeed.
    """
    try:
        return await _apply_together(strategy, intents, batch)
    except (EmbeddingResponseError, InputError) as error:
        refusal: KgAgentError = error
    except KgAgentError as error:
        return dict.fromkeys(batch, error)
    outcomes: dict[int, ResultT | KgAgentError] = dict.fromkeys(batch, refusal)
    if len(batch) == 1:
        return outcomes
    consecutive = 0
    for position in batch:
        del outcomes[position]
        outcomes |= await _apply(strategy, intents, [position])
        consecutive = (
            consecutive + 1 if isinstance(outcomes.get(position), EmbeddingResponseError) else 0
        )
        if consecutive == MAX_CONSECUTIVE_REFUSALS:
            break
    return outcomes


async def _apply_together(
    strategy: WriteStrategy[IntentT, StateT, PlanT, ResultT],
    intents: Sequence[IntentT],
    batch: Sequence[int],
) -> dict[int, ResultT | KgAgentError]:
    states = await strategy.read([intents[position] for position in batch])
    outcomes: dict[int, ResultT | KgAgentError] = {}
    plans: dict[int, PlanT] = {}
    for position, state in zip(batch, states, strict=True):
        try:
            plans[position] = strategy.plan(intents[position], state)
        except InputError as error:
            outcomes[position] = error
    if plans:
        outcomes |= await strategy.save(plans)
    return outcomes
