"""kgagent restore: list what was deleted or merged, and undo that."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Json, User
from kgagent.cli.output import show
from kgagent.errors import InputError

if TYPE_CHECKING:
    from kgagent.graph.deleted_records import RestorableRecord
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.tools import ToolText

MAX_LISTED = 50


def restore(
    node: Annotated[
        str | None,
        typer.Argument(
            help="Deleted or merged node, or one of the two nodes of a relationship: key or name. "
            "[dim]\\[lists what can be restored][/dim]"
        ),
    ] = None,
    other: Annotated[
        str | None, typer.Argument(help="The other node of the deleted relationship.")
    ] = None,
    *,
    field: Annotated[
        str | None,
        typer.Option(
            help="Give the node or the relationship, which exists, an earlier value of this field "
            "from its history: name, description, relationship_type, attitude, proximity, when."
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(help="Beginning of that value. [dim]\\[the last one][/dim]"),
    ] = None,
    user: User = None,
    json: Json = False,
) -> None:
    """Undo what an agent deleted or merged: a node with its relationships, or the relationship
    between two nodes.

    With --field, undo a wrong change. Without NODE, list the nodes and relationships that can be
    restored.
    """
    if node is None:
        _show_restorable(user, json=json)
        return

    async def work(graph: "KnowledgeGraph", user_id: str) -> "ToolText":
        tools = graph.tools(user_id=user_id)
        ends = {"from_entity_key": node, "to_entity_key": other}
        target = {"entity_key": node} if other is None else ends
        former = {name: text for name, text in (("field", field), ("value", value)) if text}
        return await tools.restore.call_text({**target, **former})

    _, answer = run_for_user(work, user)
    if answer.is_error:
        hint = "" if field else ". `kgagent restore` lists what can be restored"
        raise InputError(f"{answer.payload['error']}{hint}")
    show(answer.payload, answer.payload["message"], json=json)


async def _restorable(graph: "KnowledgeGraph", user_id: str) -> "list[RestorableRecord]":
    from kgagent.graph.deleted_records import restorable_records
    from kgagent.knowledge_graph import services_of

    services = services_of(graph)
    return await restorable_records(
        services.nodes, user_id=user_id, now=services.write_context.clock()
    )


def _show_restorable(user: str | None, *, json: bool) -> None:
    user_id, records = run_for_user(_restorable, user)
    nodes, relationships = (
        [item.to_dict() for item in records if bool(item.label) is kind] for kind in (True, False)
    )
    lines = [str(record) for record in records[:MAX_LISTED]]
    if not lines:
        lines = [f"User {user_id} has deleted nothing that can be restored"]
    if len(records) > MAX_LISTED:
        lines.append(f"and {len(records) - MAX_LISTED:,} more")
    payload = {"user": user_id, "nodes": nodes, "relationships": relationships}
    show(payload, *(Text(line, no_wrap=True) for line in lines), json=json)
