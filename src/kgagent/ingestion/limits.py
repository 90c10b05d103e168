"""How much a run may use, and how much it has used."""

import asyncio
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import Field

from kgagent.answers.token_budget import estimated_tokens
from kgagent.errors import KgAgentError
from kgagent.ingestion.report import TokenUsage
from kgagent.models.request import RequestModel


class Limits(RequestModel):
    """Limits of one run.

    When tokens or seconds run out, the run stops. A part that takes too many steps is given up, and
    the run continues with the next part. The next run reads the parts that are not read, from their
    beginning.

    Attributes:
        part_tokens: maximum size of a part of the source, in estimated tokens.
        steps_per_part: maximum number of model answers for one part.
        answer_characters: maximum length of a tool result that the model sees.
        tokens: maximum number of tokens of all requests and answers of a run, as reported by the
            model or else estimated.
        seconds: maximum duration of a run. A tool call that has started is always completed.
    """

    part_tokens: int = Field(2_000, ge=50, le=100_000)
    steps_per_part: int = Field(20, ge=1)
    answer_characters: int = Field(20_000, ge=200)
    tokens: int = Field(1_000_000, ge=1)
    seconds: float = Field(900.0, gt=0)


class RunStoppedError(KgAgentError):
    """The run cannot continue; the message is the reason. Internal: it ends up in a report."""


class RunUsage:
    """Counts what one run uses, and checks it against the limits."""

    def __init__(self, limits: Limits, *, tokens_per_request: int) -> None:
        """Start the clock.

        Args:
            limits: limits of the run.
            tokens_per_request: estimated tokens that each request carries in addition to its
                messages.
        """
        self.limits = limits
        self.steps = 0
        self.tokens = TokenUsage()
        self._tokens_per_request = tokens_per_request
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()

    @property
    def seconds(self) -> float:
        """Seconds since the run started."""
        return self._loop.time() - self._started

    @property
    def deadline(self) -> float:
        """Time of the event loop's clock at which the run must end."""
        return self._started + self.limits.seconds

    @property
    def is_out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        return self.seconds >= self.limits.seconds

    @property
    def time_limit_reached(self) -> str:
        """Reason for stopping at the deadline."""
        return f"the time limit of {self.limits.seconds:g} s is reached"

    def check_request(self, messages: Sequence[BaseMessage]) -> None:
        """Check that another request may be made.

        Raises:
            RunStoppedError: the tokens or the seconds have run out.
        """
        if self.is_out_of_time:
            raise RunStoppedError(self.time_limit_reached)
        needed = self._request_tokens(messages)
        if self.tokens.total + needed > self.limits.tokens:
            raise RunStoppedError(
                f"the token limit of {self.limits.tokens:,} is reached: {self.tokens.total:,} are "
                f"used, and the next "
                f"request takes about {needed:,}"
            )

    def add(self, messages: Sequence[BaseMessage], answer: AIMessage) -> None:
        """Count a request and its answer."""
        self.steps += 1
        usage = answer.usage_metadata
        used = self.tokens
        self.tokens = TokenUsage(
            input=used.input + (usage["input_tokens"] if usage else self._request_tokens(messages)),
            output=used.output + (usage["output_tokens"] if usage else _tokens(answer)),
            estimated=used.estimated or usage is None,
        )

    def _request_tokens(self, messages: Sequence[BaseMessage]) -> int:
        return self._tokens_per_request + sum(map(_tokens, messages))


def _tokens(message: BaseMessage) -> int:
    calls = (
        str([call["args"] for call in message.tool_calls]) if isinstance(message, AIMessage) else ""
    )
    return estimated_tokens(str(message.text)) + estimated_tokens(calls)
