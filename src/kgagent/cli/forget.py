"""kgagent forget: deletes all data of a user, a source or a node."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.upkeep.forget import ForgetReport


def forget(
    *,
    user: Annotated[str, typer.Option("--user", help="Owner of the records.", show_default=False)],
    key: Annotated[
        str | None,
        typer.Option(
            "--key", help="entity_key or name of a source or another node. [dim]\\[all data of the user][/dim]"
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be forgotten.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    batch_size: Annotated[int, typer.Option(help="Records per transaction.", min=1)] = 200,
    json: Json = False,
) -> None:
    """Delete all data of a user, or a node and the notes that came from it. This cannot be undone."""
    from rich.text import Text

    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_message, print_result
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph", entity_key: str | None, *, dry_run: bool) -> "ForgetReport":
        from kgagent.cli.progress import RichProgress

        return await graph.forget(
            user_id=user, entity_key=entity_key, dry_run=dry_run, batch_size=batch_size, progress=RichProgress()
        )

    settings = load_settings()
    if not dry_run and not yes:
        counts = run_with_graph(lambda graph: work(graph, key, dry_run=True), settings=settings, ensure_schema=False)
        key = counts.entity_key
        of_node = "" if key is None else f", node {key}"
        typer.confirm(f"User {user}{of_node}: {counts}. This cannot be undone. Continue?", abort=True, err=True)
    report = run_with_graph(lambda graph: work(graph, key, dry_run=dry_run), settings=settings, ensure_schema=False)
    if report.entity_key is None and not (
        report.nodes or report.relationships or report.deleted or report.items or report.other_nodes
    ):
        print_message(Text(f"User {user} has no records", style="yellow"))
    if json:
        print_json({"user": user, "key": report.entity_key, **report.model_dump(exclude={"entity_key"})})
    else:
        print_result(str(report))
