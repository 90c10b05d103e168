"""kgagent ingest: a chat model reads a conversation or a text into the graph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from kgagent.ingestion import IngestionReport, Source


def ingest(
    file: Annotated[
        Path,
        typer.Argument(
            help="A text; or .json: an object with name and turns (speaker, text, at), or those turns alone.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ],
    *,
    model: Annotated[str, typer.Option(help='Chat model as "provider:name", such as openai:gpt-5.')],
    name: Annotated[str | None, typer.Option(help="Title of the source. [dim]\\[the file's name][/dim]")] = None,
    user: User = None,
    force: Annotated[bool, typer.Option("--force", help="Read again what was read or refused before.")] = False,
    report_to: Annotated[Path | None, typer.Option("--report", help="Write the report here, as Markdown.")] = None,
    json: Json = False,
) -> None:
    """Read a conversation or a text into the graph with a chat model; run it again to go on where it stopped.

    Where it did not come to the end, the exit code is 1. It takes the extra `ingest` and the package of the provider.
    """
    from kgagent.cli.graph import user_of, with_graph
    from kgagent.cli.output import emit, show
    from kgagent.ingestion import Ingestor
    from kgagent.private_file import write_private_file
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = user_of(settings, user)
    source, chat_model = read_source(file, name), make_chat_model(model)
    report = with_graph(
        lambda graph: Ingestor(graph, chat_model, user_id=user_id).ingest(source, force=force), settings=settings
    )
    if report_to is not None:
        write_private_file(report_to, report.to_markdown())
    if json:
        emit(report.model_dump(mode="json"))
    else:
        show(*_told(report))
    if report.state in {"stopped", "incomplete"}:
        raise typer.Exit(1)


def read_source(file: Path, name: str | None) -> "Source":
    """Read a file as a source.

    Raises:
        InputError: it is no UTF-8, or no source.
    """
    import json

    from pydantic import ValidationError

    from kgagent.errors import InputError
    from kgagent.ingestion import Source

    try:
        text = file.read_text("utf-8")
        told = json.loads(text) if file.suffix.lower() == ".json" else {"text": text}
    except ValueError as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    given = told if isinstance(told, dict) else {"turns": told}
    named = {"name": name} if name else {"name": given.get("name", file.stem)}
    try:
        return Source.model_validate({**given, **named})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{file} is no source: {f'{place}: ' if place else ''}{first['msg']}") from None


def make_chat_model(name: str) -> "BaseChatModel":
    """Make a chat model by its name.

    Raises:
        ConfigurationError: a package is missing, or the model cannot be used so.
    """
    from kgagent.errors import ConfigurationError

    try:
        from langchain.chat_models import init_chat_model
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'kgagent ingest needs the package {error.name}: pip install "kgagent[ingest]"'
        ) from error
    try:
        return init_chat_model(name)
    except Exception as error:
        # Each provider refuses in its own way.
        raise ConfigurationError(f"The chat model {name!r} cannot be used: {error}") from error


def _told(report: "IngestionReport") -> list[str]:
    from rich.markup import escape

    new = sum(change.before is None for change in report.changes)
    changed = len(report.changes) - new
    said = {"complete": "read to the end", "unchanged": "read before; nothing was done"}
    lines = [
        f"[bold]{escape(report.name)}[/bold]: {said.get(report.state) or escape(f'{report.state} {report.reason}')}",
        f"{report.parts_read} of {report.parts} parts, {len(report.calls)} calls, {new} new, {changed} changed",
        f"[dim]{report.tokens.total:,} tokens, {report.seconds:.1f} s[/dim]",
    ]
    return lines + [f"[yellow]{escape(warning)}[/yellow]" for warning in report.warnings]
