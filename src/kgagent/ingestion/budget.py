"""What a run has used of what it may."""

import asyncio
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from kgagent.errors import KgAgentError
from kgagent.ingestion.limits import Limits
from kgagent.ingestion.report import Tokens
from kgagent.models.llm_context import estimated_tokens


class StoppedError(KgAgentError):
    """The run cannot continue; the text is the reason. Internal: a report says it, and no caller sees it."""


class Budget:
    """What one run has used."""

    def __init__(self, limits: Limits, *, overhead: int) -> None:
        """Begin.

        Args:
            limits: how much the run may do.
            overhead: estimated tokens of what each request carries beside its messages.
        """
        self.limits = limits
        self.steps = 0
        self.tokens = Tokens()
        self._overhead = overhead
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return self._loop.time() - self._begun

    @property
    def deadline(self) -> float:
        """When the run must end, by the loop's clock."""
        return self._begun + self.limits.seconds

    def check(self, messages: Sequence[BaseMessage]) -> None:
        """Check that a request can still be made.

        Raises:
            StoppedError: tokens or seconds have run out.
        """
        if self.seconds >= self.limits.seconds:
            raise StoppedError(self.late)
        needed = self._size(messages)
        if self.tokens.total + needed > self.limits.tokens:
            raise StoppedError(
                f"tokens: {self.tokens.total:,} are used, the next request takes about {needed:,}, and a run may use "
                f"{self.limits.tokens:,}"
            )

    @property
    def late(self) -> str:
        """How it is said that the time is over."""
        return f"seconds: a run may take {self.limits.seconds:g}"

    def count(self, messages: Sequence[BaseMessage], said: AIMessage) -> None:
        """Count a request and its answer."""
        self.steps += 1
        usage = said.usage_metadata
        used = self.tokens
        self.tokens = Tokens(
            input=used.input + (usage["input_tokens"] if usage else self._size(messages)),
            output=used.output + (usage["output_tokens"] if usage else _tokens(said)),
            estimated=used.estimated or usage is None,
        )

    def _size(self, messages: Sequence[BaseMessage]) -> int:
        return self._overhead + sum(map(_tokens, messages))


def _tokens(message: BaseMessage) -> int:
    calls = str([call["args"] for call in message.tool_calls]) if isinstance(message, AIMessage) else ""
    return estimated_tokens(str(message.text)) + estimated_tokens(calls)
