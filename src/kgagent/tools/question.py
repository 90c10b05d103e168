"""What a call that removes data would do, so that a surface can ask the user first."""

from datetime import timedelta
from typing import ClassVar, TypeVar

from pydantic import BaseModel

from kgagent.formatting import beginning
from kgagent.graph.compare_and_set import WriteStrategy
from kgagent.graph.records import NodeRecord
from kgagent.graph.reference_forms import message_key
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool, ToolResult

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)
IntentT = TypeVar("IntentT")
StateT = TypeVar("StateT")
PlanT = TypeVar("PlanT")

MAX_NAME = 80
MAX_TEXT = 200
DAY = timedelta(days=1)


class Question(Tool[ArgumentsT]):
    """Says what a call of another tool would remove, and changes nothing; it fails as that call would.

    It takes the arguments of that tool, names nodes and relationships as they are stored, and is the same text as long
    as the call would remove the same.
    """

    result: ClassVar[type[ToolResult]] = ToolResult
    read_only = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """Nothing: no model calls it."""
        return ""


async def plan_one(strategy: WriteStrategy[IntentT, StateT, PlanT, object], intent: IntentT) -> PlanT:
    """What a write would do now.

    Raises:
        KgAgentError: it would fail.
    """
    [state] = await strategy.read([intent])
    return strategy.plan(intent, state)


def described(node: NodeRecord) -> str:
    """A node for a question, such as "Person Ruth Calder (5b0c1a2f-61a)"."""
    return f"{node.label} {beginning(node.text('name'), MAX_NAME)} ({message_key(node.entity_key)})"


def quoted(text: str) -> str:
    """The beginning of a stored text for a question."""
    return f'"{beginning(text, MAX_TEXT)}"'


def undo(window: timedelta) -> str:
    """Say how long a deletion can be undone."""
    if not window:
        return "It cannot be restored"
    days = window / DAY
    return f"It can be restored for {days:,g} {'day' if days == 1 else 'days'}"
