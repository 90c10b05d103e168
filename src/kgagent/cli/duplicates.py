"""kgagent duplicates: nodes that may be one."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Json, User
from kgagent.cli.output import print_json, print_result, without_controls

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import LikelyDuplicate


def duplicates(
    *,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Minimum score of a pair.")
    ] = 0.5,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of pairs.")] = 50,
    user: User = None,
    json: Json = False,
) -> None:
    """List pairs of nodes that may be the same thing under two names, the most likely first, with
    the reason. Nothing is changed; an agent merges nodes with its tool merge_nodes.
    """

    async def work(graph: "KnowledgeGraph", user_id: str) -> "tuple[LikelyDuplicate, ...]":
        return await graph.duplicates(user_id=user_id, threshold=threshold, limit=limit)

    user_id, found = run_for_user(work, user, reads=True)
    if json:
        print_json({"user": user_id, "duplicates": [one.to_dict() for one in found]})
        return
    for one in found:
        nodes = " and ".join(
            f"{node.name} ({node.label} {node.entity_key[:12]})" for node in (one.first, one.second)
        )
        print_result(Text(without_controls(f"{one.score:.2f} {nodes}: {one.reason}"), no_wrap=True))
    if not found:
        print_result(f"No two nodes of user {user_id} are likely to be one")
