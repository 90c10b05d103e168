"""Writes that hold only if nobody else wrote meanwhile: read, decide, embed apart, write; else again."""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from kgagent.errors import ConflictError, EmbeddingResponseError, InputError, KgAgentError

IntentT = TypeVar("IntentT")
StateT = TypeVar("StateT")
PlannedT = TypeVar("PlannedT")
DoneT = TypeVar("DoneT")

REFUSALS_IN_A_ROW = 3
"""Texts that a model refuses one after the other before it is not asked for the rest of a batch."""

MAX_PAUSE = 0.5
"""Seconds, at the most, before a write that lost a race is tried again."""


class CompareAndSet(ABC, Generic[IntentT, StateT, PlannedT, DoneT]):
    """Carries out many intents at once, each kept or refused by itself."""

    def __init__(self, *, attempts: int) -> None:
        self._attempts = attempts

    @abstractmethod
    def identity(self, intent: IntentT) -> Hashable:
        """What the intent is about; two intents of one identity are carried out one after the other."""

    @abstractmethod
    async def read(self, intents: Sequence[IntentT]) -> Sequence[StateT]:
        """Read what each intent is about, as it is now."""

    @abstractmethod
    def plan(self, intent: IntentT, state: StateT) -> PlannedT:
        """Decide what to write.

        Raises:
            InputError: the intent cannot be carried out on what is there.
        """

    @abstractmethod
    async def save(self, planned: Mapping[int, PlannedT]) -> Mapping[int, DoneT]:
        """Embed and write; what is missing from the answer lost a race."""

    async def apply(self, intents: Sequence[IntentT]) -> list[DoneT | KgAgentError]:
        """Carry out intents.

        Returns:
            For each intent, in order, what was done or why it was not. An error of the embedder or the database is
            the answer of every intent that it hit; those written before it stay written.
        """
        results: dict[int, DoneT | KgAgentError] = {}
        tries = dict.fromkeys(range(len(intents)), 0)
        while pending := [position for position in tries if position not in results]:
            wave = self._first_of_each(intents, pending)
            results.update(await self._outcomes(intents, wave))
            lost = [position for position in wave if position not in results]
            for position in lost:
                tries[position] += 1
                if tries[position] >= self._attempts:
                    results[position] = ConflictError(
                        f"Other writers changed it during each of {self._attempts} tries, or its key is taken; "
                        "nothing was written"
                    )
            if lost:
                await asyncio.sleep(random.uniform(0, min(MAX_PAUSE, 0.01 * 2 ** max(tries.values()))))  # noqa: S311
        return [results[position] for position in tries]

    async def _outcomes(self, intents: Sequence[IntentT], wave: Sequence[int]) -> dict[int, DoneT | KgAgentError]:
        """Carry out a wave; where one text of it is refused, each intent by itself, so that the others are kept."""
        try:
            return await self._one_wave(intents, wave)
        except (EmbeddingResponseError, InputError) as error:
            refusal: KgAgentError = error
        except KgAgentError as error:
            return dict.fromkeys(wave, error)
        outcomes: dict[int, DoneT | KgAgentError] = dict.fromkeys(wave, refusal)
        in_a_row = 0
        for position in wave if len(wave) > 1 else ():
            del outcomes[position]
            outcomes |= await self._outcomes(intents, [position])
            in_a_row = in_a_row + 1 if isinstance(outcomes.get(position), EmbeddingResponseError) else 0
            if in_a_row == REFUSALS_IN_A_ROW:
                break
        return outcomes

    async def _one_wave(self, intents: Sequence[IntentT], wave: Sequence[int]) -> dict[int, DoneT | KgAgentError]:
        states = await self.read([intents[position] for position in wave])
        refused: dict[int, DoneT | KgAgentError] = {}
        planned: dict[int, PlannedT] = {}
        for position, state in zip(wave, states, strict=True):
            try:
                planned[position] = self.plan(intents[position], state)
            except InputError as error:
                refused[position] = error
        return refused | dict(await self.save(planned)) if planned else refused

    def _first_of_each(self, intents: Sequence[IntentT], pending: Sequence[int]) -> list[int]:
        first: dict[Hashable, int] = {}
        for position in pending:
            first.setdefault(self.identity(intents[position]), position)
        return list(first.values())
