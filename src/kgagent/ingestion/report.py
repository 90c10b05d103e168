"""What a run did: its tool calls, what was written, and what it cost."""

from collections import Counter
from typing import Literal

from langchain_core.messages.ai import UsageMetadata
from pydantic import BaseModel, JsonValue

from kgagent.formatting import counted

State = Literal["complete", "unchanged", "incomplete", "stopped"]
"""`complete`: every part is read. `unchanged`: every part was read before. `incomplete`: some parts
were given up. `stopped`: the run ended before the last part."""


class CallRecord(BaseModel):
    """A tool call that the model made.

    Attributes:
        part: part of the source, from 1.
        tool: tool name, as the model wrote it.
        arguments: arguments as the model gave them.
        success: whether the call succeeded.
        answer: what the tool answered: for `remember` what was created, and the values that were
            replaced.
    """

    part: int
    tool: str
    arguments: dict[str, JsonValue]
    success: bool
    answer: str


class IngestionReport(BaseModel):
    """What a run did.

    Attributes:
        name: name of the source.
        source_entity_key: key of the source's node, which the notes name.
        state: how the run ended.
        reason: why the run stopped; empty if it did not.
        parts: number of parts of the source.
        parts_read: number of parts read by this run and earlier runs.
        written: what was written: {"nodes created": 3, "notes added": 1}.
        requests: number of requests to the model.
        tokens: tokens of the requests and answers, as the model reports them or else estimated.
        cost: what the tokens cost; None without prices.
        seconds: duration of the run.
        warnings: what a person should check.
        calls: the tool calls, in order.
    """

    name: str
    source_entity_key: str = ""
    state: State = "stopped"
    reason: str = ""
    parts: int = 0
    parts_read: int = 0
    written: Counter[str] = Counter()
    requests: int = 0
    tokens: UsageMetadata = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    cost: float | None = None
    seconds: float = 0.0
    warnings: list[str] = []
    calls: list[CallRecord] = []

    def summary(self) -> list[str]:
        """How the run ended, what it wrote, and what it cost; one line each."""
        state = {
            "complete": "read completely",
            "unchanged": "read before; nothing was done",
            "incomplete": "some parts were not read. Run it again to read them",
            "stopped": f"stopped: {self.reason.rstrip('.')}. Run it again to resume",
        }[self.state]
        written = ", ".join(f"{what}: {count:,}" for what, count in self.written.items() if count)
        spent = [
            counted(self.requests, "request"),
            counted(self.tokens["total_tokens"], "token"),
            *([] if self.cost is None else [f"cost {self.cost:.4f}"]),
            f"{self.seconds:.1f} s",
        ]
        parts = f"{self.parts_read} of {counted(self.parts, 'part')} read"
        return [f"{state}.", f"{parts}; {written or 'nothing written'}.", f"{', '.join(spent)}."]
