"""kgagent load, export and import: records of users as JSON Lines files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from kgagent.cli.graph_session import run_for_user, run_with_graph
from kgagent.cli.options import Engine, Json, RayAddress, Trusted, User, Workers, ray_engine
from kgagent.cli.output import print_message, show
from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.trust import given_trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgagent.files import ImportReport, LineProblem, LoadCounts, LoadReport

MAX_PROBLEMS = 50
"""Problems that are printed; --json lists more."""


def load(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files, or folders of documents.", exists=True),
    ],
    *,
    user: User = None,
    label: Annotated[
        str | None,
        typer.Option(help="Label of nodes whose type in a file of another program is no label."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="COLUMNS",
            help="What the columns of a table are: 'Title=name,Met=when,Firm=works for -> Entity'.",
        ),
    ] = None,
    trust: Trusted = None,
    batch_size: Annotated[int, typer.Option(help="Lines per transaction.", min=1)] = 500,
    engine: Annotated[
        Engine,
        typer.Option(
            help="Where writes run. direct: in this process. ray: in worker processes of Ray Data."
        ),
    ] = "direct",
    workers: Workers = 2,
    ray_address: RayAddress = None,
    json: Json = False,
) -> None:
    """Load nodes and relationships from FILEs. Run it again to resume, or to load changes to the
    files.

    JSON Lines in UTF-8, what other programs wrote (the MCP memory server, mem0, graphiti, CSV for
    Neo4j's import tool), or a table: CSV or a JSON array of objects. Markdown, plain text, HTML,
    PDF and e-mails become sources, whose text searches find. Invalid lines are reported with their
    numbers and reasons. The other lines are loaded, and the exit code is 1.
    """
    from kgagent.cli.progress import RichProgress

    user_id, report = run_for_user(
        lambda graph, user_id: graph.load(
            *files,
            user_id=user_id,
            label=label,
            columns=columns,
            trust=given_trust(trust),
            batch_size=batch_size,
            progress=RichProgress(),
            engine=ray_engine(engine, workers, ray_address),
        ),
        user,
    )
    payload = {
        "files": [str(file) for file in files],
        "user": user_id,
        **report.model_dump(mode="json"),
    }
    show(payload, *_load_lines(report), json=json)
    if report.problems:
        raise typer.Exit(1)


def export(
    file: Annotated[
        Path, typer.Argument(help="File to write; an existing one is replaced.", dir_okay=False)
    ],
    *,
    user: User = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Export the records of every user.")
    ] = False,
    embeddings: Annotated[bool, typer.Option(help="Whether to write embeddings.")] = True,
    batch_size: Annotated[int, typer.Option(help="Records per page.", min=1)] = 500,
    json: Json = False,
) -> None:
    """Write nodes, relationships, notes, deleted records and ingestion progress to a JSON Lines
    FILE.
    """
    from kgagent.cli.progress import RichProgress

    if all_users and user is not None:
        raise InputError("Give either --user or --all-users")
    user_id, report = run_for_user(
        lambda graph, user_id: graph.export(
            file,
            user_id=None if all_users else user_id,
            embeddings=embeddings,
            batch_size=batch_size,
            progress=RichProgress(),
        ),
        user,
        ensure_schema=False,
    )
    if not (report.nodes or report.relationships or report.deleted or report.skipped):
        whose = "No user has" if all_users else f"User {user_id} has no"
        print_message(Text(f"{whose} records: {file} has none", style="yellow"))
    lines: list[RenderableType] = [Text.assemble(f"{report}, ", (f"{report.seconds:.1f} s", "dim"))]
    if report.skipped:
        skipped = f"{report.skipped:,} records without a key or with a node of another user skipped"
        lines.append(Text(skipped, style="red"))
    payload = {
        "file": str(file),
        "user": None if all_users else user_id,
        **report.model_dump(mode="json"),
    }
    show(payload, *lines, json=json)


def import_(
    file: Annotated[
        Path, typer.Argument(help="File written by export.", exists=True, dir_okay=False)
    ],
    *,
    user: Annotated[
        str | None,
        typer.Option("--user", help="User whom the file must name. [dim]\\[any][/dim]"),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace differing records with those of the file.")
    ] = False,
    batch_size: Annotated[int, typer.Option(help="Records per transaction.", min=1)] = 500,
    json: Json = False,
) -> None:
    """Import a FILE written by export, exactly. If it is interrupted, run it again to resume.

    The whole file is checked first. Records that differ from those in the graph are listed, and the
    exit code is 1.
    """
    from kgagent.cli.progress import RichProgress

    report = run_with_graph(
        lambda graph: graph.import_records(
            file, user_id=user, overwrite=overwrite, batch_size=batch_size, progress=RichProgress()
        )
    )
    lines: list[RenderableType] = [
        str(report),
        _embedding_line(report),
        *_problem_lines(report.conflicts, report.conflict_count),
    ]
    show({"file": str(file), **report.model_dump(mode="json")}, *lines, json=json)
    if report.conflict_count:
        raise typer.Exit(1)


def _load_lines(report: "LoadReport") -> list[RenderableType]:
    lines: list[RenderableType] = [
        f"nodes          {_count_columns(report.nodes)}",
        f"relationships  {_count_columns(report.relationships)}",
        _embedding_line(report),
    ]
    for found, noun, what, style in (
        (report.remarks, "remark", "", "yellow"),
        (report.problems, "line", " could not be loaded", "red"),
    ):
        if found:
            lines.append(Text(f"{counted(len(found), noun)}{what}:", style=style))
            lines += _problem_lines(found, len(found))
    return lines


def _count_columns(counts: "LoadCounts") -> str:
    ended = f" {counts.ended:>7,} ended" if counts.ended else ""
    return (
        f"{counts.created:>7,} created {counts.updated:>7,} updated {counts.unchanged:>7,} "
        f"unchanged{ended}"
    )


def _embedding_line(report: "LoadReport | ImportReport") -> Text:
    created = f"{counted(report.embedded, 'embedding')} created, {report.seconds:.1f} s"
    return Text(created, style="dim")


def _problem_lines(problems: "Sequence[LineProblem]", total: int) -> list[str]:
    lines = [f"  {problem}" for problem in problems[:MAX_PROBLEMS]]
    if total > MAX_PROBLEMS:
        listed = "all" if len(problems) == total else f"the first {len(problems):,}"
        lines.append(f"  and {total - MAX_PROBLEMS:,} more; --json lists {listed}")
    return lines
