"""kgagent load: nodes and relationships from a JSON Lines file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from kgagent.loading import LoadReport, Tally

PROBLEMS_SHOWN = 50


def load(
    file: Annotated[Path, typer.Argument(help="JSON Lines, UTF-8.", exists=True, dir_okay=False, show_default=False)],
    *,
    user: User = None,
    batch_size: Annotated[int, typer.Option(help="Lines written in one transaction.", min=1)] = 500,
    json: Json = False,
) -> None:
    """Load nodes and relationships from a JSON Lines FILE; run it again to go on, or to bring in what has changed.

    A line that cannot be taken is reported with its number and reason; the others are kept, and the exit code is 1.
    """
    from kgagent.cli.graph import user_of, with_graph
    from kgagent.cli.loading import load_into
    from kgagent.cli.output import emit, show
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = user_of(settings, user)
    report = with_graph(lambda graph: load_into(graph, file, user_id=user_id, batch_size=batch_size), settings=settings)
    if json:
        emit({"file": str(file), "user": user_id, **report.model_dump(mode="json")})
    else:
        show(*_told(report))
    if report.problems:
        raise typer.Exit(1)


def _told(report: "LoadReport") -> list[str]:
    from rich.markup import escape

    lines = [f"nodes          {_counted(report.nodes)}", f"relationships  {_counted(report.relationships)}"]
    lines.append(f"[dim]{report.embedded:,} embeddings made, {report.seconds:.1f} s[/dim]")
    if report.problems:
        lines.append(f"[red]{len(report.problems):,} lines could not be loaded:[/red]")
        lines += [f"  {escape(str(problem))}" for problem in report.problems[:PROBLEMS_SHOWN]]
    if len(report.problems) > PROBLEMS_SHOWN:
        lines.append(f"  and {len(report.problems) - PROBLEMS_SHOWN:,} more; --json lists all of them")
    return lines


def _counted(tally: "Tally") -> str:
    return f"{tally.created:>7,} created {tally.updated:>7,} updated {tally.unchanged:>7,} unchanged"
