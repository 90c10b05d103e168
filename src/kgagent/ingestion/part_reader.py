"""The loop in which a model reads one part of a source and calls tools, until it is done or must be
stopped.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable

from kgagent.errors import KgAgentError
from kgagent.formatting import beginning, encodable
from kgagent.ingestion.limits import RunStoppedError, RunUsage
from kgagent.ingestion.model_tools import ModelTools
from kgagent.ingestion.prompt import EMPTY_ANSWER, NOT_EXPLORED, UNREADABLE_ANSWER
from kgagent.ingestion.report import CallRecord
from kgagent.tools import Payload
from kgagent.tools.payload import dump, failure

ChatModel = Runnable[LanguageModelInput, AIMessage]

MAX_QUOTE_LENGTH = 300
"""Characters of a model's answer or error that a report quotes."""

OUT_OF_TIME = (
    "The run ended before this call, so it was not executed; make it again in your next answer"
)

REFUSAL_STATUSES = frozenset({400, 413, 422})
"""HTTP statuses that blame the request itself, not the key, the load or the server."""


class ModelRefusedError(KgAgentError):
    """The provider refused a request; the message is the reason. Internal: it ends up in a
    report.
    """


class UnreadableAnswerError(KgAgentError):
    """The model's client could not parse an answer. Internal: the model is asked for another
    one.
    """


@dataclass(frozen=True)
class ToolCall:
    """A tool call in an answer of the model; `arguments` is text if they are not a JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True)
class PartOutcome:
    """How reading a part ended.

    Attributes:
        given_up: why the part was given up; the next run reads it again. Empty if it is read.
        remark: what a person should know about the part.
    """

    given_up: str = ""
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
        before_write: Callable[[], Awaitable[None]],
    ) -> None:
        """Prepare.

        Args:
            model: chat model with the tools bound to it.
            tools: run the model's calls.
            usage: usage of the run so far.
            position: position of the part, from 0.
            on_call: called after each tool call.
            before_write: called before each tool call that writes; fails if another run reads the
                source.
        """
        self._model = model
        self._tools = tools
        self._usage = usage
        self._limits = usage.limits
        self._position = position
        self._on_call = on_call
        self._before_write = before_write
        self._history: list[BaseMessage] = []
        self._step = 0
        self._has_read = self._has_written = False

    async def read(self, prompt: Sequence[BaseMessage]) -> PartOutcome:
        """Read the part.

        Raises:
            RunStoppedError: the run cannot continue.
            KgAgentError: another run reads the source.
        """
        self._history += prompt
        unreadable = ""
        while self._step < self._limits.steps_per_part:
            self._usage.check_request(self._history)
            self._step += 1
            try:
                answer = await self._ask()
            except ModelRefusedError as error:
                return PartOutcome(given_up=f"the model's provider refused it: {error}")
            except UnreadableAnswerError as error:
                unreadable = f"; an answer could not be read: {error}"
                self._history.append(HumanMessage(UNREADABLE_ANSWER))
                continue
            self._history.append(answer)
            if calls := _calls(answer):
                for call in calls:
                    await self._run(call)
            elif outcome := self._outcome(answer):
                return outcome
        return PartOutcome(given_up=f"the model was not done after {self._step} steps{unreadable}")

    async def _ask(self) -> AIMessage:
        try:
            async with asyncio.timeout_at(self._usage.deadline) as timeout:
                answer = await self._model.ainvoke(list(self._history))
        except Exception as error:
            # Each provider has its own exception classes.
            if timeout.expired():
                raise RunStoppedError(self._usage.time_limit_reached) from error
            if is_refusal(error):
                raise ModelRefusedError(_quote(str(error))) from error
            if isinstance(error, ValueError):
                self._usage.add(self._history, AIMessage(""))
                raise UnreadableAnswerError(_quote(str(error))) from error
            raise RunStoppedError(
                f"the model failed: {type(error).__name__}: {_quote(str(error))}"
            ) from error
        if not isinstance(answer, AIMessage):
            raise RunStoppedError(
                f"the model answered with {type(answer).__name__} instead of a message"
            )
        self._usage.add(self._history, answer)
        return answer

    async def _run(self, call: ToolCall) -> None:
        """Run a call, unless it is refused, and add its result."""
        is_read_only = self._tools.is_read_only(call.name)
        if refusal := self._refusal(call):
            payload = failure(refusal)
        else:
            if not is_read_only:
                await self._before_write()
            payload = await self._tools.call(call.name, cast("dict[str, Any]", call.arguments))
        if payload["success"]:
            self._has_read |= is_read_only
            self._has_written |= not is_read_only
        self._history.append(self._tool_message(call, payload))
        self._on_call(self._call_record(call, payload))

    def _refusal(self, call: ToolCall) -> str:
        """Why a call is not run; empty if it is."""
        if self._usage.is_out_of_time:
            return OUT_OF_TIME
        if isinstance(call.arguments, str):
            return f"Arguments are not a JSON object: {_quote(call.arguments)}"
        return "" if self._has_read or self._tools.is_read_only(call.name) else NOT_EXPLORED

    def _outcome(self, answer: AIMessage) -> PartOutcome | None:
        """The outcome if an answer without calls ends the part. A model that answered nothing is
        reminded once.
        """
        if self._has_written:
            return PartOutcome()
        if text := str(answer.text).strip():
            return PartOutcome(remark=f"nothing was written; the model said: {_quote(text)}")
        if any(
            isinstance(message, HumanMessage) and message.content == EMPTY_ANSWER
            for message in self._history
        ):
            return PartOutcome(given_up="the model gave an empty answer twice")
        self._history.append(HumanMessage(EMPTY_ANSWER))
        return None

    def _tool_message(self, call: ToolCall, payload: Payload) -> ToolMessage:
        text = dump(payload)
        if len(text) > self._limits.answer_characters:
            text = (
                f"{text[: self._limits.answer_characters]} … (truncated: the result is too long; "
                f"ask for less)"
            )
        status = "success" if payload["success"] else "error"
        return ToolMessage(text, tool_call_id=call.id, name=call.name, status=status)

    def _call_record(self, call: ToolCall, payload: Payload) -> CallRecord:
        return CallRecord(
            part=self._position + 1,
            step=self._step,
            tool=call.name,
            arguments=json.loads(
                encodable(json.dumps(call.arguments, default=str, ensure_ascii=False))
            ),
            success=payload["success"],
            outcome=payload["message"] if payload["success"] else payload["error"],
        )


def _calls(answer: AIMessage) -> list[ToolCall]:
    """The tool calls of an answer; those with invalid arguments come last."""
    return [
        *(ToolCall(call["id"] or "", call["name"], call["args"]) for call in answer.tool_calls),
        *(
            ToolCall(call["id"] or "", call["name"] or "", call["args"] or "")
            for call in answer.invalid_tool_calls
        ),
    ]


def is_refusal(error: BaseException | None) -> bool:
    """Whether a provider refused a request, such as a content filter; wherever its client stores
    the HTTP status.

    LangChain integrations wrap the provider's errors.
    """
    while error is not None:
        response = getattr(error, "response", None)
        metadata = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        statuses = (
            getattr(error, "status_code", None),
            getattr(error, "code", None),
            metadata.get("HTTPStatusCode"),
        )
        if any(isinstance(status, int) and status in REFUSAL_STATUSES for status in statuses):
            return True
        error = error.__cause__
    return False


def _quote(text: str) -> str:
    return beginning(encodable(text), MAX_QUOTE_LENGTH)
