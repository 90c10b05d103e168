"""kgagent export and import: the records of users as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from kgagent.files import ExportReport, ImportReport
    from kgagent.knowledge_graph import KnowledgeGraph

MAX_CONFLICTS = 50


def export(
    file: Annotated[Path, typer.Argument(help="File to write; an existing one is replaced.", dir_okay=False)],
    *,
    user: User = None,
    all_users: Annotated[bool, typer.Option("--all-users", help="Export the records of every user.")] = False,
    embeddings: Annotated[bool, typer.Option(help="Whether to write embeddings.")] = True,
    batch_size: Annotated[int, typer.Option(help="Records per page.", min=1)] = 500,
    json: Json = False,
) -> None:
    """Write nodes, relationships, notes, deleted records and ingestion progress to a JSON Lines FILE."""
    from rich.text import Text

    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.output import print_json, print_message, print_result
    from kgagent.cli.progress import RichProgress
    from kgagent.errors import InputError
    from kgagent.settings import load_settings

    if all_users and user is not None:
        raise InputError("Give either --user or --all-users")
    settings = load_settings()
    user_id = None if all_users else resolve_user_id(settings, user)

    async def work(graph: "KnowledgeGraph") -> "ExportReport":
        return await graph.export(
            file, user_id=user_id, embeddings=embeddings, batch_size=batch_size, progress=RichProgress()
        )

    report = run_with_graph(work, settings=settings, ensure_schema=False)
    if not (report.nodes or report.relationships or report.deleted or report.skipped):
        whose = "No user has" if user_id is None else f"User {user_id} has no"
        print_message(Text(f"{whose} records: {file} has none", style="yellow"))
    if json:
        print_json({"file": str(file), "user": user_id, **report.model_dump(mode="json")})
        return
    print_result(f"{report}, [dim]{report.seconds:.1f} s[/dim]")
    if report.skipped:
        print_result(f"[red]{report.skipped:,} records without a key or with a node of another user skipped[/red]")


def import_(
    file: Annotated[Path, typer.Argument(help="File written by export.", exists=True, dir_okay=False)],
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

    The whole file is checked first. Records that differ from those in the graph are listed, and the exit code is 1.
    """
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_json, print_result
    from kgagent.cli.progress import RichProgress
    from kgagent.settings import load_settings

    async def work(graph: "KnowledgeGraph") -> "ImportReport":
        return await graph.import_records(
            file, user_id=user, overwrite=overwrite, batch_size=batch_size, progress=RichProgress()
        )

    report = run_with_graph(work, settings=load_settings())
    if json:
        print_json({"file": str(file), **report.model_dump(mode="json")})
    else:
        print_result(*_import_lines(report))
    if report.conflict_count:
        raise typer.Exit(1)


def _import_lines(report: "ImportReport") -> list[str]:
    from rich.markup import escape

    from kgagent.formatting import counted

    lines = [str(report), f"[dim]{counted(report.embedded, 'embedding')} created, {report.seconds:.1f} s[/dim]"]
    lines += [f"  {escape(str(conflict))}" for conflict in report.conflicts[:MAX_CONFLICTS]]
    if report.conflict_count > MAX_CONFLICTS:
        lines.append(f"  and {report.conflict_count - MAX_CONFLICTS:,} more; --json lists the first 1,000")
    return lines
