"""The loop in which a model reads one part of a source and calls tools, until it is done or must be stopped."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
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

SaveMessages = Callable[[Sequence[BaseMessage]], Awaitable[None]]
ChatModel = Runnable[LanguageModelInput, AIMessage]

MAX_QUOTE_LENGTH = 300
"""Characters of a model's answer or error that a report quotes."""

OUT_OF_TIME = "The run ended before this call, so it was not executed; make it again in your next answer"

UNKNOWN_OUTCOME = (
    "The run was interrupted during this call, so it is not known whether the call was executed. Check, and repeat it "
    "only if it was not"
)


REFUSAL_STATUSES = frozenset({400, 413, 422})
"""HTTP statuses that blame the request itself, not the key, the load or the server."""


class ModelRefusedError(KgAgentError):
    """The provider refused a request; the message is the reason. Internal: it ends up in a report."""


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
        save: SaveMessages,
    ) -> None:
        """Prepare.

        Args:
            model: chat model with the tools bound to it.
            tools: run the model's calls.
            usage: usage of the run so far.
            position: position of the part, from 0.
            on_call: called after each tool call.
            save: stores the messages so that another run can resume; fails if another run reads the source.
        """
        self._model = model
        self._tools = tools
        self._usage = usage
        self._limits = usage.limits
        self._position = position
        self._on_call = on_call
        self._save_messages = save
        self._history: list[BaseMessage] = []
        self._saved_messages = 0
        self._steps = 0
        self._unreadable = ""
        self._pending: deque[ToolCall] = deque()
        self._has_read = self._has_written = False

    async def read(self, messages: Sequence[BaseMessage], *, resumed: bool) -> PartOutcome:
        """Read the part.

        Args:
            messages: the prompt; or, if another run started the part, all of its messages.
            resumed: whether another run started the part.

        Raises:
            RunStoppedError: the run cannot continue.
            KgAgentError: the messages could not be stored.
        """
        for message in messages:
            self._append(message)
        if resumed:
            self._saved_messages = len(messages)
        try:
            await self._run_calls(is_first_unknown=resumed)
            while (outcome := self._outcome()) is None:
                self._usage.check_request(self._history)
                self._append(await self._ask())
                await self._save()
                await self._run_calls()
        except asyncio.CancelledError:
            # A failure to store the messages must not hold back the cancellation.
            with suppress(KgAgentError):
                await self._save()
            raise
        except RunStoppedError:
            await self._save()
            raise
        except ModelRefusedError as error:
            return PartOutcome(given_up=f"the model's provider refused it: {error}")
        return outcome

    def _append(self, message: BaseMessage) -> None:
        """Add a message, and count what the limits are about."""
        self._history.append(message)
        if isinstance(message, AIMessage):
            self._steps += 1
            self._pending = deque(_calls(message))
        elif isinstance(message, ToolMessage):
            call = self._pending.popleft()
            if message.status == "success":
                is_read_only = self._tools.is_read_only(call.name)
                self._has_read |= is_read_only
                self._has_written |= not is_read_only
        elif message.content == UNREADABLE_ANSWER:
            self._steps += 1

    async def _save(self) -> None:
        """Store the messages, unless all of them are stored."""
        if self._saved_messages < len(self._history):
            await self._save_messages(self._history)
            self._saved_messages = len(self._history)

    async def _ask(self) -> BaseMessage:
        """The model's answer; or, if its client could not parse the answer, a message that asks for another one."""
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
                self._unreadable = _quote(str(error))
                return HumanMessage(UNREADABLE_ANSWER)
            raise RunStoppedError(f"the model failed: {type(error).__name__}: {_quote(str(error))}") from error
        if not isinstance(answer, AIMessage):
            raise RunStoppedError(f"the model answered with {type(answer).__name__} instead of a message")
        self._usage.add(self._history, answer)
        return answer

    async def _run_calls(self, *, is_first_unknown: bool = False) -> None:
        """Run the calls of the last answer that have no result yet, in order.

        Messages are stored before and after each write: if another run has claimed the source, only that run may
        write; and a run that resumes knows that at most the first write without a result may have been executed.

        Args:
            is_first_unknown: whether another run may have executed the first write.
        """
        while self._pending:
            call = self._pending[0]
            refusal = self._refusal(call)
            is_write = not refusal and not self._tools.is_read_only(call.name)
            if is_write and is_first_unknown:
                refusal = "" if self._tools.is_idempotent(call.name) else UNKNOWN_OUTCOME
                is_first_unknown = False
            if refusal:
                payload = failure(refusal)
            else:
                if is_write:
                    await self._save()
                payload = await self._tools.call(call.name, cast("dict[str, Any]", call.arguments))
            self._append(self._tool_message(call, payload))
            self._on_call(self._call_record(call, payload))
            if is_write:
                await self._save()

    def _refusal(self, call: ToolCall) -> str:
        """Why a call is not run; empty if it is."""
        if self._usage.is_out_of_time:
            return OUT_OF_TIME
        if isinstance(call.arguments, str):
            return f"Arguments are not a JSON object: {_quote(call.arguments)}"
        return "" if self._has_read or self._tools.is_read_only(call.name) else NOT_EXPLORED

    def _outcome(self) -> PartOutcome | None:
        """The outcome if the part has ended. A model that answered nothing is reminded once."""
        last = self._history[-1]
        if isinstance(last, AIMessage):
            return self._final_outcome(last)
        if self._steps >= self._limits.steps_per_part:
            detail = f"; an answer could not be read: {self._unreadable}" if self._unreadable else ""
            return PartOutcome(given_up=f"the model was not done after {self._steps} steps{detail}")
        return None

    def _final_outcome(self, last: AIMessage) -> PartOutcome | None:
        if self._has_written:
            return PartOutcome()
        if text := str(last.text).strip():
            return PartOutcome(remark=f"nothing was written; the model said: {_quote(text)}")
        if any(isinstance(message, HumanMessage) and message.content == EMPTY_ANSWER for message in self._history):
            return PartOutcome(given_up="the model gave an empty answer twice")
        self._append(HumanMessage(EMPTY_ANSWER))
        return None

    def _tool_message(self, call: ToolCall, payload: Payload) -> ToolMessage:
        text = dump(payload)
        if len(text) > self._limits.answer_characters:
            text = f"{text[: self._limits.answer_characters]} … (truncated: the result is too long; ask for less)"
        status = "success" if payload["success"] else "error"
        return ToolMessage(text, tool_call_id=call.id, name=call.name, status=status)

    def _call_record(self, call: ToolCall, payload: Payload) -> CallRecord:
        return CallRecord(
            part=self._position + 1,
            step=self._steps,
            tool=call.name,
            arguments=json.loads(encodable(json.dumps(call.arguments, default=str, ensure_ascii=False))),
            success=payload["success"],
            outcome=payload["message"] if payload["success"] else payload["error"],
        )


def _calls(answer: AIMessage) -> list[ToolCall]:
    """The tool calls of an answer; those with invalid arguments come last."""
    return [
        *(ToolCall(call["id"] or "", call["name"], call["args"]) for call in answer.tool_calls),
        *(ToolCall(call["id"] or "", call["name"] or "", call["args"] or "") for call in answer.invalid_tool_calls),
    ]


def is_refusal(error: BaseException | None) -> bool:
    """Whether a provider refused a request, such as a content filter; wherever its client stores the HTTP status.

    LangChain integrations wrap the provider's errors.
    """
    while error is not None:
        response = getattr(error, "response", None)
        metadata = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        statuses = (getattr(error, "status_code", None), getattr(error, "code", None), metadata.get("HTTPStatusCode"))
        if any(isinstance(status, int) and status in REFUSAL_STATUSES for status in statuses):
            return True
        error = error.__cause__
    return False


def _quote(text: str) -> str:
    return beginning(encodable(text), MAX_QUOTE_LENGTH)
