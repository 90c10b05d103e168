"""find_duplicates: nodes that may be one."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from kgagent.answers.items import Item, JsonRecord, Line, RenderState
from kgagent.answers.page import Content
from kgagent.answers.safe_text import safe_text
from kgagent.formatting import counted
from kgagent.models import LikelyDuplicate
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import JsonObject, ReadArguments, ReadToolResult, render_page
from kgagent.tools.references import NodeReference


class FindDuplicatesArguments(ReadArguments):
    """Arguments of find_duplicates."""

    threshold: float = Field(0.5, ge=0.0, le=1.0, description="Minimum score.")
    limit: int = Field(20, ge=1, le=500, description="Maximum number of pairs.")


class FoundDuplicates(ReadToolResult):
    """Pairs of nodes that may be one, the most likely first.

    Attributes:
        duplicates: each with its two nodes, its score and the reason.
    """

    duplicates: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class _DuplicateItem(Item):
    """A pair of nodes in one line."""

    pair: LikelyDuplicate

    def names(self) -> Iterator[tuple[str, str]]:
        """Both nodes."""
        for node in (self.pair.first, self.pair.second):
            yield node.entity_key, node.name

    def lines(self, state: RenderState) -> list[Line]:
        """Both nodes, the score and the reason."""
        nodes = (self.pair.first, self.pair.second)
        both = " and ".join(state.name(one.entity_key, one.name, one.label) for one in nodes)
        return [Line(f"{both} {self.pair.score:.2f}", safe_text(self.pair.reason))]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The pair."""
        nodes = [NodeReference.of(one).to_dict() for one in (self.pair.first, self.pair.second)]
        score = round(self.pair.score, 4)
        return [("duplicates", {"nodes": nodes, "score": score, "reason": self.pair.reason})]


class FindDuplicates(Tool[FindDuplicatesArguments]):
    """Finds nodes that may be one."""

    name = "find_duplicates"
    arguments = FindDuplicatesArguments
    result = FoundDuplicates
    read_only = True
    reads_shared = False
    text = (
        "List pairs of nodes that may be the same thing under two names, with the reason. "
        "Nothing is changed: check each pair, then use merge_nodes."
    )

    async def run(
        self, context: ToolContext, arguments: FindDuplicatesArguments
    ) -> FoundDuplicates:
        """Compare all nodes."""
        found = await context.retrieval.duplicates(
            user_id=context.user_id, threshold=arguments.threshold, limit=arguments.limit
        )
        content = Content(
            items=[_DuplicateItem(pair) for pair in found],
            message=f"Found {counted(len(found), 'likely duplicate')}",
            empty="No two nodes are likely to be one",
            sections=("duplicates",),
        )
        return await render_page(FoundDuplicates, context, arguments, content)
