"""The loop in which a model reads one part of a source and calls tools, until it is done or must be stopped."""

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
from kgagent.ingestion.limits import RunStoppedError, RunUsage
from kgagent.ingestion.model_tools import ModelTools, call_fingerprint
from kgagent.ingestion.prompt import EMPTY_ANSWER, NOT_EXPLORED, UNREADABLE_ANSWER
from kgagent.ingestion.refusals import ModelRefusedError, find_refusal
from kgagent.ingestion.report import CallRecord
from kgagent.tools import Payload
from kgagent.tools.payload import dump, failure

SaveMessages = Callable[[Sequence[BaseMessage]], Awaitable[None]]
ChatModel = Runnable[LanguageModelInput, AIMessage]

MAX_QUOTE_LENGTH = 300
"""Characters of a model's answer or error that a report quotes."""

UNKNOWN_OUTCOME = (
    "The run was interrupted during this call, so it is not known whether the call was executed. Check, and repeat it "
    "only if it was not"
)


@dataclass(frozen=True)
class ToolCall:
    """A tool call in an answer of the model; `arguments` is text if they are not valid JSON."""

    id: str
    name: str
    arguments: dict[str, Any] | str

    @property
    def fingerprint(self) -> str:
        """Equal for calls of the same tool with the same arguments."""
        return call_fingerprint(self.name, self.arguments)


@dataclass(frozen=True)
class PartOutcome:
    """How reading a part ended. A part with neither `given_up` nor `refused` is read.

    Attributes:
        given_up: why the part was given up; the next run reads it again.
        refused: why the provider refuses the text; only a forced run tries again.
        remark: what a person should know about the part.
    """

    given_up: str = ""
    refused: str = ""
    remark: str = ""


class PartReader:
    """Reads one part of a source."""

    def __init__(  # noqa: PLR0917
        self,
        model: ChatModel,
        tools: ModelTools,
        usage: RunUsage,
        position: int,
        on_call: Callable[[CallRecord], None],
        save: SaveMessages,
    ) -> None:
        """Prepare.

        Args:
            model: chat model with the tools bound to it.
            tools: run the model's calls.
            usage: usage of the run so far.
            position: position of the part, from 0.
            on_call: called after each tool call.
            save: stores the messages so that another run can resume.
        """
        self._model = model
        self._tools = tools
        self._usage = usage
        self._limits = usage.limits
        self._position = position
        self._on_call = on_call
        self._save = save
        self._unreadable = ""

    async def read(self, messages: Sequence[BaseMessage], *, resumed: bool) -> PartOutcome:
        """Read the part.

        Args:
            messages: the prompt; or, if another run started the part, all of its messages.
            resumed: whether another run started the part.

        Raises:
            RunStoppedError: the run cannot continue.
            KgAgentError: the messages could not be stored.
        """
        history = list(messages)
        await self._run_calls(history, resumed=resumed)
        while True:
            if outcome := self._outcome(history):
                return outcome
            try:
                self._usage.check_request(history)
                history.append(await self._ask(history))
            except asyncio.CancelledError:
                # A failure to store the messages must not hold back the cancellation.
                with suppress(KgAgentError):
                    await self._save(history)
                raise
            except ModelRefusedError as error:
                reason = f"the model's provider refused it: {error}"
                return PartOutcome(refused=reason) if error.refusal == "content" else PartOutcome(given_up=reason)
            except RunStoppedError:
                await self._save(history)
                raise
            await self._save(history)
            await self._run_calls(history)

    async def _ask(self, history: Sequence[BaseMessage]) -> BaseMessage:
        """The model's answer; or, if its client could not parse the answer, a message that asks for another one."""
        try:
            async with asyncio.timeout_at(self._usage.deadline) as timeout:
                answer = await self._model.ainvoke(list(history))
        except Exception as error:
            # Each provider has its own exception classes.
            if timeout.expired():
                raise RunStoppedError(self._usage.out_of_time) from error
            if refusal := find_refusal(error):
                raise ModelRefusedError(_quote(str(error)), refusal) from error
            if isinstance(error, ValueError):
                self._usage.add(history, AIMessage(""))
                self._unreadable = _quote(str(error))
                return HumanMessage(UNREADABLE_ANSWER)
            raise RunStoppedError(f"the model failed: {type(error).__name__}: {_quote(str(error))}") from error
        if not isinstance(answer, AIMessage):
            raise RunStoppedError(f"the model answered with {type(answer).__name__} instead of a message")
        self._usage.add(history, answer)
        return answer

    async def _run_calls(self, history: list[BaseMessage], *, resumed: bool = False) -> None:
        """Run the calls of the last answer that have no result yet, in order, and append their results.

        Args:
            history: all messages of the part.
            resumed: whether another run may have executed the first write among these calls.
        """
        asked = max(
            (index for index, message in enumerate(history) if isinstance(message, AIMessage)), default=len(history)
        )
        answered = sum(isinstance(message, ToolMessage) for message in history[asked:])
        earlier = _calls(history[:asked])
        calls = _calls(history[asked : asked + 1])
        outcome_unknown = resumed
        is_saved = True
        for index, call in enumerate(calls[answered:], answered):
            is_read_only = self._tools.is_read_only(call.name)
            if not is_read_only and not is_saved:
                # Reading may have taken long; if another run claimed the source meanwhile, only that run may write.
                await self._save(history)
            if outcome_unknown and not self._tools.is_idempotent(call.name):
                payload = failure(UNKNOWN_OUTCOME)
            else:
                payload = await self._apply(call, index, [*earlier, *calls[:index]], history)
            # Messages are stored after each write, so calls after the first write had not started.
            outcome_unknown = outcome_unknown and is_read_only
            history.append(self._tool_message(call, payload))
            self._on_call(self._call_record(call, payload, history))
            is_saved = not is_read_only
            if not is_read_only:
                await self._save(history)

    async def _apply(
        self, call: ToolCall, index: int, earlier: Sequence[ToolCall], history: Sequence[BaseMessage]
    ) -> Payload:
        if index >= self._limits.calls_per_step:
            return failure(
                f"An answer may contain {self._limits.calls_per_step} calls; make this one in your next answer"
            )
        if isinstance(call.arguments, str):
            return failure(f"Arguments are not a JSON object: {_quote(call.arguments)}")
        if _occurrences(call, earlier) >= self._limits.same_call:
            return failure(
                f"This call was made {self._limits.same_call} times with the same arguments, and its result stays the "
                "same. Do something else, or stop"
            )
        if not self._tools.is_read_only(call.name) and not self._has_read(history):
            return failure(NOT_EXPLORED)
        return await self._tools.call(call.name, call.arguments)

    def _has_read(self, history: Sequence[BaseMessage]) -> bool:
        return any(self._tools.is_read_only(name) for name in _successful_tools(history))

    def _has_written(self, history: Sequence[BaseMessage]) -> bool:
        return any(not self._tools.is_read_only(name) for name in _successful_tools(history))

    def _outcome(self, history: list[BaseMessage]) -> PartOutcome | None:
        """The outcome if the part has ended. A model that answered nothing is reminded once."""
        last = history[-1]
        if isinstance(last, AIMessage):
            return self._final_outcome(last, history)
        steps = _steps(history)
        if steps >= self._limits.steps_per_part:
            detail = f"; an answer could not be read: {self._unreadable}" if self._unreadable else ""
            return PartOutcome(given_up=f"the model was not done after {steps} steps{detail}")
        calls = _calls(history)
        for call in calls[-1:]:
            if _occurrences(call, calls) >= 2 * self._limits.same_call:
                return PartOutcome(given_up=f"the model kept repeating the same call of {call.name}")
        return None

    def _final_outcome(self, last: AIMessage, history: list[BaseMessage]) -> PartOutcome | None:
        text = " ".join(str(last.text).split())
        if text or self._has_written(history):
            remark = "" if self._has_written(history) else f"nothing was written; the model said: {_quote(text)}"
            return PartOutcome(remark=remark)
        if any(isinstance(message, HumanMessage) and message.content == EMPTY_ANSWER for message in history):
            return PartOutcome(given_up="the model gave an empty answer twice")
        history.append(HumanMessage(EMPTY_ANSWER))
        return None

    def _tool_message(self, call: ToolCall, payload: Payload) -> ToolMessage:
        text = dump(payload)
        if len(text) > self._limits.answer_characters:
            text = f"{text[: self._limits.answer_characters]} … (truncated: the result is too long; ask for less)"
        status = "success" if payload["success"] else "error"
        return ToolMessage(text, tool_call_id=call.id, name=call.name, status=status)

    def _call_record(self, call: ToolCall, payload: Payload, history: Sequence[BaseMessage]) -> CallRecord:
        return CallRecord(
            part=self._position + 1,
            step=_steps(history),
            tool=call.name,
            arguments=json.loads(_encodable(json.dumps(call.arguments, default=str, ensure_ascii=False))),
            success=payload["success"],
            outcome=payload["message"] if payload["success"] else payload["error"],
        )


def _steps(history: Iterable[BaseMessage]) -> int:
    """Number of answers, including those that could not be parsed."""
    return sum(isinstance(message, AIMessage) or message.content == UNREADABLE_ANSWER for message in history)


def _calls(history: Iterable[BaseMessage]) -> list[ToolCall]:
    """The tool calls of all answers; within an answer, calls with invalid arguments come last."""
    calls = []
    for message in history:
        if isinstance(message, AIMessage):
            calls += [ToolCall(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls]
            calls += [
                ToolCall(call["id"] or "", call["name"] or "", call["args"] or "")
                for call in message.invalid_tool_calls
            ]
    return calls


def _occurrences(call: ToolCall, calls: Iterable[ToolCall]) -> int:
    return sum(other.fingerprint == call.fingerprint for other in calls)


def _successful_tools(history: Iterable[BaseMessage]) -> Iterator[str]:
    for message in history:
        if isinstance(message, ToolMessage) and message.status == "success":
            yield message.name or ""


def _encodable(text: str) -> str:
    """Text without unpaired surrogates, which neither files nor terminals accept."""
    return text.encode("utf-8", "replace").decode()


def _quote(text: str) -> str:
    line = " ".join(_encodable(text).split())
    return line if len(line) <= MAX_QUOTE_LENGTH else line[: MAX_QUOTE_LENGTH - 1] + "…"
