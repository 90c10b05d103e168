"""kgagent migrate: bring an old graph to the present form."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.migration import MigrationReport


def migrate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
    user: Annotated[str | None, typer.Option(help="Whose graph; all users' where left out.")] = None,
    rebuild_indexes: Annotated[
        bool, typer.Option("--rebuild-indexes", help="First make the vector indexes anew for the present embedder.")
    ] = False,
    batch_size: Annotated[int, typer.Option(help="Records embedded in one call and written at once.", min=1)] = 200,
    json: Json = False,
) -> None:
    """Embed what has no current embedding and remove the embedding fields of old graphs; run it again to go on."""
    from kgagent.cli.graph import with_graph
    from kgagent.cli.output import emit, show
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph") -> "MigrationReport":
        from kgagent.cli.progress import RichProgress

        return await graph.migrate(
            user_id=user,
            dry_run=dry_run,
            rebuild_indexes=rebuild_indexes,
            batch_size=batch_size,
            progress=RichProgress(),
        )

    report = with_graph(work, settings=load_settings(), ensure_schema=False)
    if json:
        emit(report.to_dict())
        return
    show(str(report), f"[dim]{report.seconds:.1f} s; {'nothing was changed' if dry_run else 'done'}[/dim]")
    for skipped in report.skipped:
        show(f"skipped {skipped.what}: {skipped.why}")
