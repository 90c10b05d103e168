"""kgagent restore: undo the deletion of a node or of a relationship."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph


def restore(
    node: Annotated[str, typer.Argument(help="Deleted node, or one of the two nodes of a relationship: key or name.")],
    other: Annotated[str | None, typer.Argument(help="The other node of the deleted relationship.")] = None,
    *,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Skip relationships whose other node no longer exists.")
    ] = False,
    user: User = None,
    json: Json = False,
) -> None:
    """Undo what an agent deleted: a node with its relationships, or the relationship between two nodes."""
    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.errors import InputError
    from kgagent.settings import load_settings
    from kgagent.tools import ToolText

    settings = load_settings()
    user_id = resolve_user_id(settings, user)

    async def work(graph: "KnowledgeGraph") -> ToolText:
        tools = graph.tools(user_id=user_id)
        if other is None:
            return await tools.restore_node.call_text({"entity_key": node, "skip_missing": skip_missing})
        return await tools.restore_relationship.call_text({"from_entity_key": node, "to_entity_key": other})

    answer = run_with_graph(work, settings=settings)
    if answer.is_error:
        raise InputError(answer.payload["error"])
    if json:
        print_json(answer.payload)
    else:
        print_result(answer.payload["message"])
