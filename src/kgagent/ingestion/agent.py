"""The loop in which a model reads one part of a source and calls tools, until it is done or must be ended."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable

from kgagent.errors import KgAgentError
from kgagent.ingestion.budget import Budget, StoppedError
from kgagent.ingestion.functions import Functions, fingerprint
from kgagent.ingestion.prompt import NOT_EXPLORED, REMINDER, UNREADABLE
from kgagent.ingestion.refusals import RefusedError, refusal_in
from kgagent.ingestion.report import CallRecord
from kgagent.tools import Payload
from kgagent.tools.base import dump, failure

Keep = Callable[[Sequence[BaseMessage]], Awaitable[None]]
Model = Runnable[LanguageModelInput, AIMessage]

MAX_SAYING_LENGTH = 300
"""Characters of what a model said, or of its error, that a report repeats."""

UNCERTAIN = (
    "The run broke off during this call, so it is not known whether it was carried out. Look, and make it again only "
    "if it was not"
)


@dataclass(frozen=True)
class Call:
    """A call in an answer of the model; `arguments` is a text where they are no JSON."""

    id: str
    name: str
    arguments: dict[str, Any] | str

    @property
    def fingerprint(self) -> str:
        """The same for the same call."""
        return fingerprint(self.name, self.arguments)


@dataclass(frozen=True)
class Ending:
    """How the reading of a part ended.

    Attributes:
        given_up: why it was, for another run to begin it anew; empty where it was not.
        refused: why the provider will not read its text; empty where it does.
        remark: what a person should know.
    """

    given_up: str = ""
    refused: str = ""
    remark: str = ""


class PartReader:
    """Reads one part."""

    def __init__(  # noqa: PLR0917
        self,
        model: Model,
        functions: Functions,
        budget: Budget,
        position: int,
        record: Callable[[CallRecord], None],
        keep: Keep,
    ) -> None:
        """Prepare.

        Args:
            model: with the functions bound to it.
            functions: carry out its calls.
            budget: what the run may still use.
            position: of the part, from 0.
            record: told of each call.
            keep: keeps what was said, so that another run can go on from it.
        """
        self._model = model
        self._functions = functions
        self._budget = budget
        self._limits = budget.limits
        self._position = position
        self._record = record
        self._keep = keep
        self._unreadable = ""

    async def read(self, messages: Sequence[BaseMessage], *, resumed: bool) -> Ending:
        """Read the part.

        Args:
            messages: what the model is told; or, where another run has begun the part, all that was said.
            resumed: whether that is so.

        Raises:
            StoppedError: the run cannot go on.
            KgAgentError: what was said could not be kept.
        """
        said = list(messages)
        await self._answer(said, uncertain=resumed)
        while True:
            if ending := self._ending(said):
                return ending
            try:
                self._budget.check(said)
                said.append(await self._ask(said))
            except asyncio.CancelledError:
                # What keeps it from being kept must not hold the cancellation back.
                with suppress(KgAgentError):
                    await self._keep(said)
                raise
            except RefusedError as error:
                told = f"the model's provider refused it: {error}"
                return Ending(refused=told) if error.refusal == "of_the_text" else Ending(given_up=told)
            except StoppedError:
                await self._keep(said)
                raise
            await self._keep(said)
            await self._answer(said)

    async def _ask(self, said: Sequence[BaseMessage]) -> BaseMessage:
        """What the model answers; or, where its client could not read that, what the model is told of it."""
        try:
            async with asyncio.timeout_at(self._budget.deadline) as limit:
                answer = await self._model.ainvoke(list(said))
        except Exception as error:
            # Each provider has errors of its own.
            if limit.expired():
                raise StoppedError(self._budget.late) from error
            if refusal := refusal_in(error):
                raise RefusedError(_cut(str(error)), refusal) from error
            if isinstance(error, ValueError):
                self._budget.count(said, AIMessage(""))
                self._unreadable = _cut(str(error))
                return HumanMessage(UNREADABLE)
            raise StoppedError(f"the model failed: {type(error).__name__}: {_cut(str(error))}") from error
        if not isinstance(answer, AIMessage):
            raise StoppedError(f"the model answered with {type(answer).__name__} instead of a message")
        self._budget.count(said, answer)
        return answer

    async def _answer(self, said: list[BaseMessage], *, uncertain: bool = False) -> None:
        """Carry out the calls of the last answer that have none yet, one after the other.

        Args:
            said: the answers are added to it.
            uncertain: whether the first of them that writes may have been carried out without anyone knowing.
        """
        asked = max((place for place, message in enumerate(said) if isinstance(message, AIMessage)), default=len(said))
        answered = sum(isinstance(message, ToolMessage) for message in said[asked:])
        earlier = _calls(said[:asked])
        calls = _calls(said[asked : asked + 1])
        is_kept = True
        for place, call in enumerate(calls[answered:], answered):
            is_read_only = self._functions.is_read_only(call.name)
            if not is_read_only and not is_kept:
                # Looking may have taken long; where another run took the source over meanwhile, that one alone writes.
                await self._keep(said)
            if uncertain and not self._functions.is_repeatable(call.name):
                payload = failure(UNCERTAIN)
            else:
                payload = await self._apply(call, place, [*earlier, *calls[:place]], said)
            # Only writes are kept one by one, so whatever came after the first of them was not begun.
            uncertain = uncertain and is_read_only
            said.append(self._message(call, payload))
            self._record(self._recorded(call, payload, said))
            is_kept = not is_read_only
            if not is_read_only:
                await self._keep(said)

    async def _apply(self, call: Call, place: int, earlier: Sequence[Call], said: Sequence[BaseMessage]) -> Payload:
        if place >= self._limits.calls_per_step:
            return failure(f"An answer may make {self._limits.calls_per_step} calls; make this one in the next")
        if isinstance(call.arguments, str):
            return failure(f"Arguments are not a JSON object: {_cut(call.arguments)}")
        if _times(call, earlier) >= self._limits.same_call:
            return failure(
                f"This call was made {self._limits.same_call} times with the same arguments, and its answer stays the "
                "same. Do something else, or end"
            )
        if not self._functions.is_read_only(call.name) and not self._has_looked(said):
            return failure(NOT_EXPLORED)
        return await self._functions.call(call.name, call.arguments)

    def _has_looked(self, said: Sequence[BaseMessage]) -> bool:
        return any(self._functions.is_read_only(name) for name in _succeeded(said))

    def _has_written(self, said: Sequence[BaseMessage]) -> bool:
        return any(not self._functions.is_read_only(name) for name in _succeeded(said))

    def _ending(self, said: list[BaseMessage]) -> Ending | None:
        """How it ends, if it does; a model that said nothing is reminded once."""
        last = said[-1]
        if isinstance(last, AIMessage):
            return self._ended(last, said)
        steps = _steps(said)
        if steps >= self._limits.steps_per_part:
            told = f"; an answer could not be read: {self._unreadable}" if self._unreadable else ""
            return Ending(given_up=f"the model was not done after {steps} steps{told}")
        calls = _calls(said)
        for call in calls[-1:]:
            if _times(call, calls) >= 2 * self._limits.same_call:
                return Ending(given_up=f"the model made the same call of {call.name} again and again")
        return None

    def _ended(self, last: AIMessage, said: list[BaseMessage]) -> Ending | None:
        text = " ".join(str(last.text).split())
        if text or self._has_written(said):
            remark = "" if self._has_written(said) else f"nothing was written; the model said: {_cut(text)}"
            return Ending(remark=remark)
        if any(isinstance(message, HumanMessage) and message.content == REMINDER for message in said):
            return Ending(given_up="the model answered nothing, twice")
        said.append(HumanMessage(REMINDER))
        return None

    def _message(self, call: Call, payload: Payload) -> ToolMessage:
        text = dump(payload)
        if len(text) > self._limits.answer_characters:
            text = f"{text[: self._limits.answer_characters]} … (cut: the answer is too long; ask for less)"
        status = "success" if payload["success"] else "error"
        return ToolMessage(text, tool_call_id=call.id, name=call.name, status=status)

    def _recorded(self, call: Call, payload: Payload, said: Sequence[BaseMessage]) -> CallRecord:
        return CallRecord(
            part=self._position + 1,
            step=_steps(said),
            tool=call.name,
            arguments=json.loads(_whole(json.dumps(call.arguments, default=str, ensure_ascii=False))),
            success=payload["success"],
            outcome=payload["message"] if payload["success"] else payload["error"],
        )


def _steps(said: Iterable[BaseMessage]) -> int:
    """The model's answers, those that could not be read included."""
    return sum(isinstance(message, AIMessage) or message.content == UNREADABLE for message in said)


def _calls(said: Iterable[BaseMessage]) -> list[Call]:
    """The calls of the model's answers, in each of them the broken ones last."""
    calls = []
    for message in said:
        if isinstance(message, AIMessage):
            calls += [Call(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls]
            calls += [
                Call(call["id"] or "", call["name"] or "", call["args"] or "") for call in message.invalid_tool_calls
            ]
    return calls


def _times(call: Call, calls: Iterable[Call]) -> int:
    return sum(other.fingerprint == call.fingerprint for other in calls)


def _succeeded(said: Iterable[BaseMessage]) -> Iterator[str]:
    """Names of the tools that did their work."""
    for message in said:
        if isinstance(message, ToolMessage) and message.status == "success":
            yield message.name or ""


def _whole(text: str) -> str:
    """Text without halves of surrogate pairs, which no file and no terminal takes."""
    return text.encode("utf-8", "replace").decode()


def _cut(text: str) -> str:
    line = " ".join(_whole(text).split())
    return line if len(line) <= MAX_SAYING_LENGTH else line[: MAX_SAYING_LENGTH - 1] + "…"
