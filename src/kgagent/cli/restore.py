"""kgagent restore: list what was deleted, and undo the deletion of a node or of a relationship."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgagent.graph.restorable_records import RestorableRecord
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.settings import Settings

MAX_LISTED = 50


def restore(
    node: Annotated[
        str | None,
        typer.Argument(
            help="Deleted node, or one of the two nodes of a relationship: key or name. "
            "[dim]\\[lists what can be restored][/dim]"
        ),
    ] = None,
    other: Annotated[str | None, typer.Argument(help="The other node of the deleted relationship.")] = None,
    *,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Skip relationships whose other node no longer exists.")
    ] = False,
    user: User = None,
    json: Json = False,
) -> None:
    """Undo what an agent deleted: a node with its relationships, or the relationship between two nodes.

    Without NODE, list the deleted nodes and relationships that can be restored.
    """
    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.errors import InputError
    from kgagent.settings import load_settings
    from kgagent.tools import ToolText

    settings = load_settings()
    user_id = resolve_user_id(settings, user)
    if node is None:
        _list(settings, user_id, json=json)
        return

    async def work(graph: "KnowledgeGraph") -> tuple[ToolText, str]:
        tools = graph.tools(user_id=user_id)
        if other is not None:
            ends = {"from_entity_key": node, "to_entity_key": other}
            return await tools.restore_relationship.call_text(ends), ""
        answer = await tools.restore_node.call_text({"entity_key": node, "skip_missing": skip_missing})
        return answer, _nearest(node, await _restorable(graph, user_id)) if answer.is_error else ""

    answer, nearest = run_with_graph(work, settings=settings)
    if answer.is_error:
        raise InputError(f"{answer.payload['error']}{nearest}")
    if json:
        print_json(answer.payload)
    else:
        print_result(answer.payload["message"])


async def _restorable(graph: "KnowledgeGraph", user_id: str) -> "list[RestorableRecord]":
    from kgagent.graph.restorable_records import restorable_records
    from kgagent.knowledge_graph import services_of

    services = services_of(graph)
    return await restorable_records(services.nodes, user_id=user_id, now=services.write_context.clock())


def _list(settings: "Settings", user_id: str, *, json: bool) -> None:
    from rich.text import Text

    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_result

    records = run_with_graph(lambda graph: _restorable(graph, user_id), settings=settings)
    if json:
        nodes, relationships = ([one.to_dict() for one in records if bool(one.label) == kind] for kind in (True, False))
        print_json({"user": user_id, "nodes": nodes, "relationships": relationships})
        return
    lines = [str(one) for one in records[:MAX_LISTED]] or [f"User {user_id} has deleted nothing that can be restored"]
    more = len(records) - MAX_LISTED
    print_result(*(Text(line, no_wrap=True) for line in [*lines, *([f"and {more:,} more"] if more > 0 else [])]))


def _nearest(wanted: str, records: "Sequence[RestorableRecord]") -> str:
    """What to add to an error about a node that is not among the deleted ones."""
    from kgagent.suggestions import closest_names, shorten_name

    names = [one.name for one in records if one.label]
    if not names or wanted in names or any(wanted in one.entity_keys for one in records):
        return ""
    containing = [name for name in names if wanted.casefold() in name.casefold()]
    close = list(dict.fromkeys((*containing, *closest_names(wanted, names))))[:3]
    meant = f". Did you mean {' or '.join(map(shorten_name, close))}?" if close else "."
    return f"{meant} `kgagent restore` lists what can be restored"
