"""kgagent init, migrate, purge and doctor: the schema and the health of a graph."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kgagent.cli.options import Json, RayAddress, UserOrAll, Workers

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.upkeep.diagnosis import Diagnosis
    from kgagent.upkeep.migration_report import MigrationReport
    from kgagent.upkeep.purge import PurgeReport

_SIGNS = {"error": "[bold red]✗[/bold red]", "warning": "[yellow]![/yellow]", "info": "[dim]i[/dim]"}


def init(*, json: Json = False) -> None:
    """Create missing constraints and indexes; safe to repeat, even concurrently."""
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.knowledge_graph import services_of
    from kgagent.settings import load_settings

    async def read_facts(graph: "KnowledgeGraph") -> dict[str, object]:
        services = services_of(graph)
        return {
            "uri": services.store.uri,
            "version": services.store.features.version,
            "embedder": str(graph.embedder),
            "parts": [part.name for part in services.schema.parts],
        }

    facts = run_with_graph(read_facts, settings=load_settings())
    if json:
        print_json(facts)
        return
    parts = facts["parts"]
    count = len(parts) if isinstance(parts, list) else 0
    print_result(
        f"[green]{count} constraints and indexes are online[/green] at {facts['uri']} "
        f"(Neo4j {facts['version']}), for {facts['embedder']}."
    )


def migrate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
    user: UserOrAll = None,
    rebuild_indexes: Annotated[
        bool, typer.Option("--rebuild-indexes", help="First recreate the vector indexes for the current embedder.")
    ] = False,
    batch_size: Annotated[int, typer.Option(help="Records per embedding call and transaction.", min=1)] = 200,
    engine: Annotated[
        Literal["direct", "ray"],
        typer.Option(
            help="How texts are embedded. direct: by requests from this process. "
            "ray: by worker processes of Ray Data, which also write."
        ),
    ] = "direct",
    workers: Workers = 2,
    ray_address: RayAddress = None,
    json: Json = False,
) -> None:
    """Bring an old graph to the current form: embed records without a current embedding, convert old properties.

    If it is interrupted, run it again to resume.
    """
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph") -> "MigrationReport":
        from kgagent.cli.progress import RichProgress
        from kgagent.ray_workers import RayEngine

        engines: dict[str, RayEngine | None] = {
            "direct": None,
            "ray": RayEngine(workers=workers, address=ray_address),
        }
        return await graph.migrate(
            user_id=user,
            dry_run=dry_run,
            rebuild_indexes=rebuild_indexes,
            batch_size=batch_size,
            progress=RichProgress(),
            engine=engines[engine],
        )

    report = run_with_graph(work, settings=load_settings(), ensure_schema=False)
    if json:
        print_json(report.to_dict())
        return
    print_result(str(report), f"[dim]{report.seconds:.1f} s; {'nothing was changed' if dry_run else 'done'}[/dim]")
    for skipped in report.skipped:
        print_result(f"skipped {skipped.what}: {skipped.why}")


def purge(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be purged.")] = False,
    user: UserOrAll = None,
    restorable: Annotated[
        bool, typer.Option("--restorable", help="Also purge what the user could still restore; needs --user.")
    ] = False,
    batch_size: Annotated[int, typer.Option(help="Records per transaction.", min=1)] = 200,
    json: Json = False,
) -> None:
    """Purge deleted nodes and relationships that can no longer be restored."""
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph") -> "PurgeReport":
        return await graph.purge(user_id=user, restorable=restorable, dry_run=dry_run, batch_size=batch_size)

    report = run_with_graph(work, settings=load_settings(), ensure_schema=False)
    if json:
        print_json(report.to_dict())
    else:
        print_result(str(report))


def doctor(
    *,
    user: UserOrAll = None,
    check_embedder: Annotated[
        bool, typer.Option(help="Whether to make one embedding to check that the embedder works.")
    ] = True,
    json: Json = False,
) -> None:
    """Check server, indexes and embeddings without changing anything; the exit code is 1 if problems are found."""
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph") -> "Diagnosis":
        from kgagent.cli.progress import RichProgress

        return await graph.diagnose(user_id=user, check_embedder=check_embedder, progress=RichProgress())

    diagnosis = run_with_graph(work, settings=load_settings(), ensure_schema=False)
    if json:
        print_json(diagnosis.to_dict())
    else:
        print_result(*_diagnosis_lines(diagnosis))
    if not diagnosis.is_healthy:
        raise typer.Exit(1)


def _diagnosis_lines(diagnosis: "Diagnosis") -> "list[RenderableType]":
    from rich.table import Table
    from rich.text import Text

    from kgagent.formatting import counted

    facts = diagnosis.facts
    records = f"{counted(facts.nodes, 'node')} and {counted(facts.relationships, 'relationship')} checked"
    if facts.store_items:
        records += f", {counted(facts.store_items, 'stored item')}"
    summary = f"Neo4j {facts.server_version} at {facts.uri}; {facts.embedder}; {records}."
    table = Table.grid(padding=(0, 1))
    for finding in diagnosis.findings:
        text = Text(finding.message)
        if finding.fix:
            text.append("\n→ ", style="dim").append(finding.fix, style="cyan")
        table.add_row(_SIGNS[finding.severity], text)
    verdict = "[green]No problems found.[/green]" if diagnosis.is_healthy else "[red]Problems found.[/red]"
    return [Text(summary, style="dim"), table, verdict]
