"""The agent that reads the parts of a source, with LangChain's loop."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, hook_config
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.exceptions import ContextOverflowError, ModelInvalidRequestError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import Field

from kgagent.errors import KgAgentError
from kgagent.formatting import beginning, encodable
from kgagent.ingestion.prompt import PART_DONE
from kgagent.ingestion.report import CallRecord, IngestionReport
from kgagent.models.request import RequestModel

MAX_REPEATS = 2
"""How often an answer that records nothing is asked for again."""

MAX_QUOTE_LENGTH = 300
"""Characters of a model's answer or error that a report quotes."""

REFUSAL_STATUSES = frozenset({400, 413, 422})
_REFUSALS = (ModelInvalidRequestError, ContextOverflowError)
"""What blames the request itself, not the key, the load or the server: HTTP statuses, and the
exceptions of LangChain.
"""

_END_FIELDS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_CUT_ENDS = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "incomplete"),
        *("content_filter", "content_filtered", "guardrail_intervened", "refusal", "safety"),
    }
)
"""Where the providers say why an answer ended, and what they say if it was cut."""

PART_DONE_SCHEMA = {
    "type": "boolean",
    "description": "Whether this call records the last of the part.",
}

_LISTS = ("nodes", "relationships", "notes")

ValueT = TypeVar("ValueT")


class Limits(RequestModel):
    """Limits of one run.

    When tokens run out, the run stops. A part that takes too many requests is given up, and the run
    continues with the next part. The next run reads the parts that are not read, from their
    beginning.

    Attributes:
        part_size: maximum size of a part of the source, in characters.
        requests_per_part: maximum number of answers of the model for one part; those that record
            nothing and are asked for again do not count.
        tokens: tokens of all requests and answers of a run after which no request is made, as
            reported by the model or else estimated.
    """

    part_size: int = Field(8_000, ge=200, le=100_000)
    requests_per_part: int = Field(20, ge=1)
    tokens: int = Field(1_000_000, ge=1)


class RunStoppedError(KgAgentError):
    """The run cannot continue; the message is the reason. Internal: it ends up in a report."""


class PartAbandonedError(KgAgentError):
    """A part cannot be read; the message is the reason. Internal: it ends up in a report."""


class PartReader(AgentMiddleware[Any, Any, Any]):
    """An agent that reads the parts of a source, one at a time. A part is read when a call of
    `remember` that says so has recorded all its items.
    """

    def __init__(
        self,
        model: BaseChatModel,
        tools: Sequence[BaseTool],
        prompt: str,
        limits: Limits,
        *,
        said_on: str | None,
        before_write: Callable[[], Awaitable[None]],
        report: IngestionReport,
    ) -> None:
        """Prepare.

        Args:
            model: the model.
            tools: `remember` and the searches.
            prompt: the system prompt.
            limits: limits of the run.
            said_on: date of the source, for calls of `remember` that give none.
            before_write: called before each call of `remember`; fails if another run reads the
                source.
            report: gets the calls, and what was written and used.
        """
        super().__init__()
        self._limits = limits
        self._defaults = {"said_on": said_on} if said_on else {}
        self._before_write = before_write
        self._report = report
        self._part = 0
        self._is_done = self._has_failed = False
        self._one_at_a_time = asyncio.Lock()
        for tool in tools:
            if tool.name == "remember" and isinstance(tool.args_schema, dict):
                tool.args_schema["properties"][PART_DONE] = PART_DONE_SCHEMA
        limit = ModelCallLimitMiddleware(run_limit=limits.requests_per_part, exit_behavior="error")
        self._agent = create_agent(model, tools, system_prompt=prompt, middleware=[self, limit])

    async def read(self, number: int, message: str) -> None:
        """Read a part.

        Args:
            number: position of the part, from 1.
            message: the part for the model.

        Raises:
            PartAbandonedError: the part cannot be read.
            KgAgentError: the run cannot continue.
        """
        self._part, self._is_done = number, False
        try:
            await self._agent.ainvoke({"messages": [HumanMessage(message)]})
        except ModelCallLimitExceededError:
            limit = self._limits.requests_per_part
            raise PartAbandonedError(f"the model was not done after {limit} requests") from None

    @hook_config(can_jump_to=["end"])
    async def abefore_model(
        self,
        state: AgentState[Any],  # noqa: ARG002
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """End the loop when the part is read."""
        return {"jump_to": "end"} if self._is_done and not self._has_failed else None

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Ask the model, again if its answer records nothing.

        Raises:
            RunStoppedError: the model cannot be used, or the tokens have run out.
            PartAbandonedError: the provider refuses the request, or no answer can be used.
        """
        self._is_done = self._has_failed = False
        for _ in range(1 + MAX_REPEATS):
            answer, fault = await self._ask(request, handler)
            if answer is not None and not fault:
                return ModelResponse(result=[answer])
            reminder = (
                f"Nothing of your last answer was recorded: {fault}. Call `remember`, with few "
                f"items at a time if an answer was cut, and {PART_DONE} in the last call."
            )
            request = request.override(messages=[*request.messages, HumanMessage(reminder)])
        raise PartAbandonedError(fault)

    async def _ask(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> tuple[AIMessage | None, str]:
        """The answer, and what makes it unusable."""
        if self._report.tokens["total_tokens"] >= self._limits.tokens:
            raise RunStoppedError(f"the token limit of {self._limits.tokens:,} is reached")
        self._report.requests += 1
        try:
            response = await handler(request)
        except Exception as error:
            # Each provider has its own exception classes.
            said = f"{type(error).__name__}: {quote(str(error))}"
            status = getattr(error, "status_code", None)
            if isinstance(error, _REFUSALS) or status in REFUSAL_STATUSES:
                raise PartAbandonedError(f"the model's provider refused it: {said}") from error
            if isinstance(error, ValueError):
                return None, f"it could not be read: {said}"
            raise RunStoppedError(f"the model failed: {said}") from error
        [answer] = (message for message in response.result if isinstance(message, AIMessage))
        self._report.tokens = add_usage(self._report.tokens, _usage(request, answer))
        # An unpaired surrogate could neither be stored nor sent back.
        texts = {"content": _encodable(answer.content), "tool_calls": _encodable(answer.tool_calls)}
        return answer.model_copy(update=texts), _fault(answer)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run a call; the calls of an answer run in their order, not at the same time.

        Raises:
            KgAgentError: another run reads the source.
        """
        call, given = request.tool_call, dict(request.tool_call["args"])
        writes = call["name"] == "remember"
        # Models also write it as text.
        ends_part = str(given.pop(PART_DONE, False)).lower() == "true"
        async with self._one_at_a_time:
            if writes:
                await self._before_write()
            if writes and ends_part and not any(map(given.get, _LISTS)):
                answer: ToolMessage | Command[Any] = ToolMessage(
                    "Done.", tool_call_id=call["id"], artifact={"success": True}
                )
            else:
                arguments = {**self._defaults, **given} if writes else given
                answer = await handler(request.override(tool_call={**call, "args": arguments}))
        payload = getattr(answer, "artifact", None) or {}
        success = bool(payload.get("success"))
        if writes:
            self._is_done |= ends_part
            self._has_failed |= not success or bool(payload.get("failures"))
            self._count(payload)
        self._report.calls.append(
            CallRecord(
                part=self._part,
                tool=call["name"],
                arguments=given,
                success=success,
                answer=str(getattr(answer, "content", "")),
            )
        )
        return answer

    def _count(self, payload: dict[str, Any]) -> None:
        for name in ("nodes", "relationships"):
            for state, count in payload.get(name, {}).items():
                if state != "failed":
                    self._report.written[f"{name} {state}"] += count
        self._report.written["notes added"] += payload.get("notes_added", 0)


def quote(text: str) -> str:
    """The beginning of a text of the model or its provider."""
    return beginning(text, MAX_QUOTE_LENGTH)


def _fault(answer: AIMessage) -> str:
    """Why an answer cannot be used; empty if it can."""
    said = {str(answer.response_metadata.get(field)).lower() for field in _END_FIELDS}
    if cut := said & _CUT_ENDS:
        return f"the provider cut it ({', '.join(cut)})"
    if answer.invalid_tool_calls:
        arguments = quote(str(answer.invalid_tool_calls[0]["args"]))
        return f"arguments of a call are not a JSON object: {arguments}"
    if not answer.tool_calls:
        return f"it calls no tool: {quote(str(answer.text))}"
    return ""


def _usage(request: ModelRequest[Any], answer: AIMessage) -> UsageMetadata:
    if answer.usage_metadata:
        return answer.usage_metadata
    asked = [*filter(None, [request.system_message]), *request.messages]
    given = count_tokens_approximately(asked, tools=request.tools)
    said = count_tokens_approximately([answer])
    return UsageMetadata(input_tokens=given, output_tokens=said, total_tokens=given + said)


def _encodable(value: ValueT) -> ValueT:
    """A value of JSON types without unpaired surrogates."""
    decoded: ValueT = json.loads(encodable(json.dumps(value, default=str, ensure_ascii=False)))
    return decoded
