"""kgagent init, migrate, purge, doctor and forget: the schema, the health and the deletion of a
graph.
"""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kgagent.cli.graph_session import run_with_graph
from kgagent.cli.options import EmbeddingEngine, Json, RayAddress, UserOrAll, Workers, ray_engine
from kgagent.cli.output import print_message, show
from kgagent.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.progress import Progress
    from kgagent.upkeep.diagnosis import Diagnosis

ResultT = TypeVar("ResultT")

_SIGNS = {
    "error": Text("✗", style="bold red"),
    "warning": Text("!", style="yellow"),
    "info": Text("i", style="dim"),
}


def init(*, json: Json = False) -> None:
    """Create missing constraints and indexes; safe to repeat, even concurrently."""
    from kgagent.knowledge_graph import services_of

    async def read_facts(graph: "KnowledgeGraph") -> dict[str, Any]:
        services = services_of(graph)
        return {
            "uri": services.store.uri,
            "version": services.store.features.version,
            "embedder": str(graph.embedder),
            "parts": [part.name for part in services.schema.parts],
        }

    facts = run_with_graph(read_facts)
    summary = Text.assemble(
        (f"{len(facts['parts'])} constraints and indexes are online", "green"),
        f" at {facts['uri']} (Neo4j {facts['version']}), for {facts['embedder']}.",
    )
    show(facts, summary, json=json)


def migrate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be done.")
    ] = False,
    user: UserOrAll = None,
    rebuild_indexes: Annotated[
        bool,
        typer.Option(
            "--rebuild-indexes", help="First recreate the vector indexes for the current embedder."
        ),
    ] = False,
    batch_size: Annotated[
        int, typer.Option(help="Records per embedding call and transaction.", min=1)
    ] = 200,
    engine: EmbeddingEngine = "direct",
    workers: Workers = 2,
    ray_address: RayAddress = None,
    json: Json = False,
) -> None:
    """Bring an old graph to the current form: embed records without a current embedding, convert
    old properties.

    If it is interrupted, run it again to resume.
    """
    report = _run(
        lambda graph, progress: graph.migrate(
            user_id=user,
            dry_run=dry_run,
            rebuild_indexes=rebuild_indexes,
            batch_size=batch_size,
            progress=progress,
            engine=ray_engine(engine, workers, ray_address),
        )
    )
    state = "nothing was changed" if dry_run else "done"
    duration = Text(f"{report.seconds:.1f} s; {state}", style="dim")
    skipped = (f"skipped {record.what}: {record.why}" for record in report.skipped)
    show(report.to_dict(), str(report), duration, *skipped, json=json)


def purge(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be purged.")
    ] = False,
    user: UserOrAll = None,
    restorable: Annotated[
        bool,
        typer.Option(
            "--restorable", help="Also purge what the user could still restore; needs --user."
        ),
    ] = False,
    batch_size: Annotated[int, typer.Option(help="Records per transaction.", min=1)] = 200,
    json: Json = False,
) -> None:
    """Purge deleted nodes and relationships that can no longer be restored."""
    report = _run(
        lambda graph, _: graph.purge(
            user_id=user, restorable=restorable, dry_run=dry_run, batch_size=batch_size
        )
    )
    show(report.to_dict(), str(report), json=json)


def doctor(
    *,
    user: UserOrAll = None,
    check_embedder: Annotated[
        bool, typer.Option(help="Whether to make one embedding to check that the embedder works.")
    ] = True,
    json: Json = False,
) -> None:
    """Check server, indexes and embeddings without changing anything; the exit code is 1 if
    problems are found.
    """
    diagnosis = _run(
        lambda graph, progress: graph.diagnose(
            user_id=user, check_embedder=check_embedder, progress=progress
        )
    )
    show(diagnosis.to_dict(), *_diagnosis_lines(diagnosis), json=json)
    if not diagnosis.is_healthy:
        raise typer.Exit(1)


def forget(
    *,
    user: Annotated[str, typer.Option("--user", help="Owner of the records.", show_default=False)],
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help=(
                "entity_key or name of a source or another node. [dim]\\[all data of the "
                "user][/dim]"
            ),
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be forgotten.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    batch_size: Annotated[int, typer.Option(help="Records per transaction.", min=1)] = 200,
    json: Json = False,
) -> None:
    """Delete all data of a user, or a node and the notes that came from it. This cannot be
    undone.
    """
    if not dry_run and not yes:
        counts = _run(
            lambda graph, _: graph.forget(
                user_id=user, entity_key=key, dry_run=True, batch_size=batch_size
            )
        )
        key = counts.entity_key
        of_node = "" if key is None else f", node {key}"
        typer.confirm(
            f"User {user}{of_node}: {counts}. This cannot be undone. Continue?",
            abort=True,
            err=True,
        )
    report = _run(
        lambda graph, progress: graph.forget(
            user_id=user, entity_key=key, dry_run=dry_run, batch_size=batch_size, progress=progress
        )
    )
    if report.entity_key is None and not any(
        report.model_dump(exclude={"entity_key", "dry_run"}).values()
    ):
        print_message(Text(f"User {user} has no records", style="yellow"))
    payload = {"user": user, "key": report.entity_key, **report.model_dump(exclude={"entity_key"})}
    show(payload, str(report), json=json)


def _run(work: "Callable[[KnowledgeGraph, Progress], Awaitable[ResultT]]") -> ResultT:
    """Run the work on the graph, whose schema is not changed."""
    from kgagent.cli.progress import RichProgress

    return run_with_graph(lambda graph: work(graph, RichProgress()), ensure_schema=False)


def _diagnosis_lines(diagnosis: "Diagnosis") -> list[RenderableType]:
    facts = diagnosis.facts
    records = (
        f"{counted(facts.nodes, 'node')}, {counted(facts.relationships, 'relationship')} and "
        f"{counted(facts.passages, 'passage')} checked"
    )
    summary = f"Neo4j {facts.server_version} at {facts.uri}; {facts.embedder}; {records}."
    table = Table.grid(padding=(0, 1))
    for finding in diagnosis.findings:
        text = Text(finding.message)
        if finding.fix:
            text.append("\n→ ", style="dim").append(finding.fix, style="cyan")
        table.add_row(_SIGNS[finding.severity], text)
    verdict = (
        Text("No problems found.", style="green")
        if diagnosis.is_healthy
        else Text("Problems found.", style="red")
    )
    return [Text(summary, style="dim"), table, verdict]
