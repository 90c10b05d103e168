from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from kgagent.errors import (
    ConflictError,
    ConstraintViolationError,
    EmbeddingUnavailableError,
    InputError,
    KgAgentError,
)
from kgagent.graph.compare_and_set import compare_and_set


@dataclass
class Counter:
    """The state of a letter, which its intents share."""

    letter: str
    value: int


class Counters:
    """A strategy that counts up a number for each letter; it can meet conflicts and fail."""

    def __init__(self, *, attempts: int = 3) -> None:
        self.attempts = attempts
        self.values: dict[str, int] = {}
        self.waves: list[list[str]] = []
        self.conflicts: dict[str, int] = {}
        self.failure: KgAgentError | None = None

    async def apply(self, intents: Sequence[str]) -> list[int | KgAgentError]:
        return await compare_and_set(self, intents, attempts=self.attempts)

    def identity(self, intent: str) -> str:
        return intent

    async def read(self, intents: Sequence[str]) -> Sequence[Counter]:
        self.waves.append(list(intents))
        states = {intent: Counter(intent, self.values.get(intent, 0)) for intent in intents}
        return [states[intent] for intent in intents]

    def plan(self, intent: str, state: Counter) -> tuple[str, int]:
        if intent == "bad":
            raise InputError("no such thing")
        state.value += 1
        return state.letter, state.value

    async def save(self, plans: Mapping[int, tuple[str, int]]) -> Mapping[int, int | KgAgentError]:
        if self.failure is not None:
            raise self.failure
        refused = {letter for letter, _ in plans.values() if self.conflicts.get(letter, 0) > 0}
        for letter in refused:
            self.conflicts[letter] -= 1
        kept = {position: plan for position, plan in plans.items() if plan[0] not in refused}
        self.values |= dict(kept.values())
        return {position: value for position, (_, value) in kept.items()}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgagent.graph.compare_and_set.MAX_PAUSE", 0.0)


async def test_intents_about_different_records_are_saved_together() -> None:
    counters = Counters()
    assert await counters.apply(["a", "b", "c"]) == [1, 1, 1]
    assert counters.waves == [["a", "b", "c"]]


async def test_intents_about_one_record_are_applied_one_after_the_other_in_order() -> None:
    counters = Counters()
    assert await counters.apply(["a", "b", "a", "a"]) == [1, 1, 2, 3]
    assert counters.waves == [["a", "b", "a", "a"]]


async def test_after_a_conflict_all_intents_about_the_record_are_retried_in_order() -> None:
    counters = Counters()
    counters.conflicts["a"] = 1
    assert await counters.apply(["a", "b", "a"]) == [1, 1, 2]
    assert counters.waves == [["a", "b", "a"], ["a", "a"]]


async def test_a_refused_intent_does_not_stop_the_others() -> None:
    first, refused, third = await Counters().apply(["a", "bad", "c"])
    assert (first, third) == (1, 1)
    assert isinstance(refused, InputError)


async def test_too_many_conflicts_are_an_error_that_says_nothing_was_written() -> None:
    counters = Counters(attempts=3)
    counters.conflicts["a"] = 3
    conflict, other = await counters.apply(["a", "b"])
    assert isinstance(conflict, ConflictError)
    assert (
        str(conflict)
        == "Other writers changed the record in each of 3 attempts; nothing was written"
    )
    assert other == 1
    assert "a" not in counters.values


@pytest.mark.parametrize("attempts", [1, 20])
async def test_a_violated_constraint_is_reported_once_the_record_was_read_again(
    attempts: int,
) -> None:
    counters = Counters(attempts=attempts)
    counters.failure = ConstraintViolationError("in use")
    assert await counters.apply(["a", "b"]) == [counters.failure] * 2
    assert counters.waves == [["a", "b"]] * min(attempts, 2)


async def test_a_constraint_that_a_concurrent_write_violated_is_no_error() -> None:
    class Late(Counters):
        async def save(
            self, plans: Mapping[int, tuple[str, int]]
        ) -> Mapping[int, int | KgAgentError]:
            if len(self.waves) == 1:
                return dict.fromkeys(plans, ConstraintViolationError("in use"))
            return await super().save(plans)

    late = Late()
    assert await late.apply(["a", "b"]) == [1, 1]
    assert late.waves == [["a", "b"]] * 2


async def test_an_error_of_the_embedder_is_the_outcome_of_every_intent_of_the_batch() -> None:
    counters = Counters()
    counters.failure = EmbeddingUnavailableError("down")
    assert await counters.apply(["a", "b", "a"]) == [counters.failure] * 3
