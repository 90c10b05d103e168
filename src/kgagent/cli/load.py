"""kgagent load: loads nodes and relationships from a JSON Lines file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kgagent.cli.options import Json, RayAddress, User, Workers

if TYPE_CHECKING:
    from kgagent.files import LoadCounts, LoadReport

MAX_PROBLEMS = 50


def load(
    file: Annotated[Path, typer.Argument(help="JSON Lines, UTF-8.", exists=True, dir_okay=False, show_default=False)],
    *,
    user: User = None,
    batch_size: Annotated[int, typer.Option(help="Lines per transaction.", min=1)] = 500,
    engine: Annotated[
        Literal["direct", "ray"],
        typer.Option(help="Where writes run. direct: in this process. ray: in worker processes of Ray Data."),
    ] = "direct",
    workers: Workers = 2,
    ray_address: RayAddress = None,
    json: Json = False,
) -> None:
    """Load nodes and relationships from a JSON Lines FILE. Run it again to resume, or to load changes to the file.

    Invalid lines are reported with their numbers and reasons. The other lines are loaded, and the exit code is 1.
    """
    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.cli.progress import RichProgress
    from kgagent.ray_workers import RayEngine
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = resolve_user_id(settings, user)
    report = run_with_graph(
        lambda graph: graph.load(
            file,
            user_id=user_id,
            batch_size=batch_size,
            progress=RichProgress(),
            engine=RayEngine(workers=workers, address=ray_address) if engine == "ray" else None,
        ),
        settings=settings,
    )
    if json:
        print_json({"file": str(file), "user": user_id, **report.model_dump(mode="json")})
    else:
        print_result(*_report_lines(report))
    if report.problems:
        raise typer.Exit(1)


def _report_lines(report: "LoadReport") -> list[str]:
    from rich.markup import escape

    from kgagent.formatting import counted

    lines = [f"nodes          {_tally_columns(report.nodes)}", f"relationships  {_tally_columns(report.relationships)}"]
    lines.append(f"[dim]{counted(report.embedded, 'embedding')} created, {report.seconds:.1f} s[/dim]")
    if report.problems:
        lines.append(f"[red]{counted(len(report.problems), 'line')} could not be loaded:[/red]")
        lines += [f"  {escape(str(problem))}" for problem in report.problems[:MAX_PROBLEMS]]
    if len(report.problems) > MAX_PROBLEMS:
        lines.append(f"  and {len(report.problems) - MAX_PROBLEMS:,} more; use --json to list all of them")
    return lines


def _tally_columns(tally: "LoadCounts") -> str:
    return f"{tally.created:>7,} created {tally.updated:>7,} updated {tally.unchanged:>7,} unchanged"
