"""The agent that reads the parts of a source, with LangChain's loop."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ModelRetryMiddleware
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain.agents.middleware.types import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import BaseTool
from langgraph.types import Command
from pydantic import Field

from kgagent.errors import KgAgentError
from kgagent.formatting import beginning, encodable
from kgagent.ingestion.report import CallRecord, TokenUsage
from kgagent.models.request import RequestModel

MAX_QUOTE_LENGTH = 300
"""Characters of a model's answer or error that a report quotes."""

REFUSAL_STATUSES = frozenset({400, 413, 422})
"""HTTP statuses that blame the request itself, not the key, the load or the server."""


class Limits(RequestModel):
    """Limits of one run.

    When tokens or seconds run out, the run stops. A part that takes too many steps is given up, and
    the run continues with the next part. The next run reads the parts that are not read, from their
    beginning.

    Attributes:
        part_tokens: maximum size of a part of the source, in estimated tokens.
        steps_per_part: maximum number of model answers for one part.
        tokens: tokens of all requests and answers of a run after which no request is made, as
            reported by the model or else estimated.
        seconds: maximum duration of a run.
    """

    part_tokens: int = Field(2_000, ge=50, le=100_000)
    steps_per_part: int = Field(20, ge=1)
    tokens: int = Field(1_000_000, ge=1)
    seconds: float = Field(900.0, gt=0)


class RunStoppedError(KgAgentError):
    """The run cannot continue; the message is the reason. Internal: it ends up in a report."""


class PartAbandonedError(KgAgentError):
    """A part cannot be read; the message is the reason. Internal: it ends up in a report."""


class UnreadableAnswerError(PartAbandonedError):
    """An answer of the model is empty or has no valid JSON. Internal: it is asked for again."""


@dataclass
class Usage(AgentMiddleware[Any, Any, Any]):
    """Counts what a run uses, and records its calls.

    Attributes:
        before_write: called before each tool call that writes; fails if another run reads the
            source.
        part: number of the part that is being read.
        steps: answers of the model, and of those the ones to this part.
        has_written: whether something was written for this part.
    """

    limits: Limits
    before_write: Callable[[], Awaitable[None]]
    part: int = 0
    steps: int = 0
    steps_of_part: int = 0
    has_written: bool = False
    tokens: TokenUsage = field(default_factory=TokenUsage)
    calls: list[CallRecord] = field(default_factory=list)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(self, part: int) -> None:
        """Begin with a part."""
        self.part, self.steps_of_part, self.has_written = part, 0, False

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Ask the model.

        Raises:
            RunStoppedError: the model cannot be used, or the tokens have run out.
            PartAbandonedError: the provider refuses the request, or the answer cannot be read.
        """
        if self.tokens.total >= self.limits.tokens:
            raise RunStoppedError(f"the token limit of {self.limits.tokens:,} is reached")
        self.steps += 1
        self.steps_of_part += 1
        try:
            response = await handler(request)
        except Exception as error:
            # Each provider has its own exception classes.
            said = quote(str(error))
            if is_refusal(error):
                raise PartAbandonedError(f"the model's provider refused it: {said}") from error
            if isinstance(error, ValueError):
                raise UnreadableAnswerError(f"an answer could not be read: {said}") from error
            raise RunStoppedError(f"the model failed: {type(error).__name__}: {said}") from error
        [answer] = (message for message in response.result if isinstance(message, AIMessage))
        self._count(request, answer)
        if answer.invalid_tool_calls:
            said = quote(str(answer.invalid_tool_calls[0]["args"]))
            raise UnreadableAnswerError(f"arguments of a call are not a JSON object: {said}")
        has_called = any(isinstance(message, ToolMessage) for message in request.messages)
        if not (answer.tool_calls or answer.text.strip() or has_called):
            raise UnreadableAnswerError("the model gave an empty answer")
        return response

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run a call; the calls of an answer run in their order, not at the same time.

        Raises:
            KgAgentError: another run reads the source.
        """
        step, writes = self.steps_of_part, not _is_read_only(request.tool)
        async with self._one_at_a_time:
            if writes:
                await self.before_write()
            answer = await handler(request)
        payload = getattr(answer, "artifact", None) or {
            "error": str(getattr(answer, "content", ""))
        }
        arguments = json.dumps(request.tool_call["args"], default=str, ensure_ascii=False)
        call = CallRecord(
            part=self.part,
            step=step,
            tool=request.tool_call["name"],
            arguments=json.loads(encodable(arguments)),
            success=bool(payload.get("success")),
            outcome=payload.get("message") or payload["error"],
        )
        self.calls.append(call)
        self.has_written |= writes and call.success
        return answer

    def _count(self, request: ModelRequest[Any], answer: AIMessage) -> None:
        reported, used = answer.usage_metadata, self.tokens
        self.tokens = TokenUsage(
            input=used.input
            + (
                reported["input_tokens"]
                if reported
                else count_tokens_approximately(request.messages)
            ),
            output=used.output
            + (reported["output_tokens"] if reported else count_tokens_approximately([answer])),
            estimated=used.estimated or reported is None,
        )


class PartReader:
    """An agent that reads the parts of a source, one at a time."""

    def __init__(
        self, model: BaseChatModel, tools: Sequence[BaseTool], prompt: str, usage: Usage
    ) -> None:
        self._usage = usage
        middleware: list[AgentMiddleware[Any, Any, Any]] = [
            ModelCallLimitMiddleware(run_limit=usage.limits.steps_per_part, exit_behavior="error"),
            ModelRetryMiddleware(
                retry_on=(UnreadableAnswerError,), on_failure="error", initial_delay=0
            ),
            usage,
        ]
        self._agent = create_agent(model, tools, system_prompt=prompt, middleware=middleware)

    async def read(self, message: str) -> str:
        """Read a part, and return what a person should know about it; usually nothing.

        Raises:
            PartAbandonedError: the part cannot be read.
            KgAgentError: the run cannot continue.
        """
        try:
            done = await self._agent.ainvoke({"messages": [HumanMessage(message)]})
        except ModelCallLimitExceededError:
            raise PartAbandonedError(
                f"the model was not done after {self._usage.limits.steps_per_part} steps"
            ) from None
        if self._usage.has_written:
            return ""
        return f"nothing was written; the model said: {quote(str(done['messages'][-1].text))}"


def quote(text: str) -> str:
    """The beginning of a text of the model or its provider."""
    return beginning(encodable(text), MAX_QUOTE_LENGTH)


def is_refusal(error: BaseException | None) -> bool:
    """Whether a provider refused a request, such as a content filter; LangChain's integrations
    wrap the error of the provider, which has the HTTP status.
    """
    while error is not None:
        statuses = (getattr(error, "status_code", None), getattr(error, "code", None))
        if any(isinstance(status, int) and status in REFUSAL_STATUSES for status in statuses):
            return True
        error = error.__cause__
    return False


def _is_read_only(tool: BaseTool | None) -> bool:
    return tool is None or bool((tool.metadata or {}).get("read_only"))
