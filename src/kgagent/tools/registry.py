"""All tools, in the order in which a model is shown them; every surface reads them from here."""

from typing import Any

from kgagent.errors import InputError
from kgagent.tools.add_note_to_relationship import AddNoteToRelationship
from kgagent.tools.base import BoundTool, BoundTools, Tool, ToolContext
from kgagent.tools.create_node import CreateNode
from kgagent.tools.create_relationship import CreateRelationship
from kgagent.tools.create_relationships import CreateRelationships
from kgagent.tools.describe_graph import DescribeGraph
from kgagent.tools.explore import Explore
from kgagent.tools.get_relationship import GetRelationship
from kgagent.tools.hybrid_search import HybridSearch
from kgagent.tools.query_patterns import QueryPatterns
from kgagent.tools.update_node import UpdateNode
from kgagent.tools.update_relationship import UpdateRelationship
from kgagent.tools.update_relationships import UpdateRelationships

TOOLS: tuple[Tool[Any], ...] = (
    Explore(),
    DescribeGraph(),
    HybridSearch(),
    QueryPatterns(),
    GetRelationship(),
    CreateNode(),
    UpdateNode(),
    CreateRelationship(),
    CreateRelationships(),
    UpdateRelationship(),
    UpdateRelationships(),
    AddNoteToRelationship(),
)


class Toolset(BoundTools):
    """The agent's tools, bound to one user: `await tools.explore(queries=[{"query": "mentors"}])`."""

    def __init__(self, context: ToolContext) -> None:
        if not context.user_id:
            raise InputError("user_id must not be empty: the tools are one user's")
        super().__init__({tool.name: BoundTool(tool, context) for tool in TOOLS})
        self._user_id = context.user_id

    @property
    def user_id(self) -> str:
        """Whose graph the tools read and write."""
        return self._user_id
