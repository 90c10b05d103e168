"""kgagent doctor: what is wrong with a graph, and how to mend it."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kgagent.doctor import Diagnosis
    from kgagent.knowledge_graph import KnowledgeGraph

_SIGNS = {"error": "[bold red]✗[/bold red]", "warning": "[yellow]![/yellow]", "info": "[dim]i[/dim]"}


def doctor(
    *,
    user: Annotated[str | None, typer.Option(help="Whose graph; all users' where left out.")] = None,
    ask_embedder: Annotated[bool, typer.Option(help="Whether one embedding is made, to see that it works.")] = True,
    json: Json = False,
) -> None:
    """Examine server, indexes and embeddings, change nothing; exit code 1 where something is to be mended."""
    from kgagent.cli.graph import with_graph
    from kgagent.cli.output import emit, show
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph") -> "Diagnosis":
        from kgagent.cli.progress import RichProgress

        return await graph.diagnose(user_id=user, check_embedder=ask_embedder, progress=RichProgress())

    diagnosis = with_graph(work, settings=load_settings(), ensure_schema=False)
    if json:
        emit(diagnosis.to_dict())
    else:
        show(*_told(diagnosis))
    if not diagnosis.is_healthy:
        raise typer.Exit(1)


def _told(diagnosis: "Diagnosis") -> "list[RenderableType]":
    from rich.table import Table
    from rich.text import Text

    facts = diagnosis.facts
    examined = (
        f"Neo4j {facts.server_version} at {facts.uri}; {facts.embedder}; "
        f"{facts.nodes:,} nodes and {facts.relationships:,} relationships examined."
    )
    table = Table.grid(padding=(0, 1))
    for finding in diagnosis.findings:
        said = Text(finding.message)
        if finding.fix:
            said.append("\n→ ", style="dim").append(finding.fix, style="cyan")
        table.add_row(_SIGNS[finding.severity], said)
    verdict = (
        "[green]Nothing is to be mended.[/green]" if diagnosis.is_healthy else "[red]Something is to be mended.[/red]"
    )
    return [Text(examined, style="dim"), table, verdict]
