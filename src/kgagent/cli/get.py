"""kgagent get: a node, or the relationship between two nodes, with all notes and the history."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Json, User
from kgagent.cli.output import show, without_controls
from kgagent.errors import InputError

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.tools import ToolText


def get(
    node: Annotated[str, typer.Argument(help="Key or name of a node.")],
    other: Annotated[str | None, typer.Argument(help="The other node of a relationship.")] = None,
    *,
    user: User = None,
    json: Json = False,
) -> None:
    """Show a node, or the relationship between two nodes, with all notes and the history: kgagent
    get "Ada" "Bo".
    """
    from kgagent.tools.read_results import MAX_TOKEN_BUDGET

    ends = {"from_entity_key": node} | ({} if other is None else {"to_entity_key": other})

    async def work(graph: "KnowledgeGraph", user_id: str) -> "ToolText":
        arguments = {**ends, "token_budget": MAX_TOKEN_BUDGET}
        return await graph.tools(user_id=user_id).get_relationship.call_text(arguments)

    _, answer = run_for_user(work, user, reads=True)
    if answer.is_error:
        raise InputError(answer.payload["error"])
    show(answer.payload, Text(without_controls(answer.text)), json=json)
