"""kgagent ingest: a chat model reads conversations and texts into the graph."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from kgagent.cli.ingest_output import FileOutcome
    from kgagent.knowledge_graph import KnowledgeGraph


def ingest(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Text files; JSON files with an object that has name and turns (speaker, text, at) or only the list "
            "of turns; or folders, of which all .txt, .md and .json files are read.",
            exists=True,
            show_default=False,
        ),
    ],
    *,
    model: Annotated[str, typer.Option(help='Chat model as "provider:name", for example openai:gpt-5.')],
    name: Annotated[str | None, typer.Option(help="Title of the source. [dim]\\[name of the file][/dim]")] = None,
    source_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="Identity of the source, which stays the same when the text changes. [dim]\\[path of the file][/dim]",
        ),
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S%z"],
            help="When it was said or written, for files that contain no date.",
        ),
    ] = None,
    instructions: Annotated[
        str, typer.Option(help='Additional instructions for the model, for example "I am Iris."')
    ] = "",
    user: User = None,
    force: Annotated[
        bool, typer.Option("--force", help="Read sources even if they were read or refused before.")
    ] = False,
    report_to: Annotated[
        Path | None, typer.Option("--report", help="Write the report to this file, as Markdown.")
    ] = None,
    json: Json = False,
) -> None:
    """Read conversations and texts into the graph with a chat model. If it stops, run it again to resume.

    A file that changed is read as a newer version of the same source. If anything was not read completely, the exit
    code is 1. Requires the extra `ingest` and the LangChain package of the provider.
    """
    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.ingest_output import all_read, ingest_files, summary_lines, to_json, to_markdown
    from kgagent.cli.output import print_json, print_result
    from kgagent.cli.source_files import SourceOptions, find_files, read_sources
    from kgagent.ingestion import Ingestor
    from kgagent.private_files import write_output_file
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = resolve_user_id(settings, user)
    found = find_files(files)
    is_single_file = found == files and len(files) == 1
    if not is_single_file and (name or source_id):
        raise typer.BadParameter(f"--name and --id require a single file, got {len(found)}")
    sources = read_sources(found, SourceOptions(id=source_id, name=name, date=date), strict=is_single_file)
    chat_model = make_chat_model(model)

    async def work(graph: "KnowledgeGraph") -> "list[FileOutcome]":
        ingestor = Ingestor(graph, chat_model, user_id=user_id, instructions=instructions)
        return [outcome async for outcome in ingest_files(ingestor, sources, force=force)]

    outcomes = run_with_graph(work, settings=settings)
    if report_to is not None:
        write_output_file(report_to, to_markdown(outcomes))
    if json:
        print_json(to_json(outcomes, is_single_file=is_single_file))
    else:
        print_result(*summary_lines(outcomes))
    if not all_read(outcomes):
        raise typer.Exit(1)


def make_chat_model(name: str) -> "BaseChatModel":
    """Create a chat model by name.

    Raises:
        ConfigurationError: a package is missing, or the model cannot be created.
    """
    from kgagent.errors import ConfigurationError
    from kgagent.extras import require_extra

    with require_extra("ingest"):
        from langchain.chat_models import init_chat_model
    try:
        return init_chat_model(name)
    except Exception as error:
        # Each provider raises its own exceptions.
        if "model provider" in str(error):
            raise ConfigurationError(
                f'The chat model {name!r} cannot be used: write it as "provider:name", with a provider that LangChain '
                "knows, for example openai:gpt-5 or ollama:qwen3"
            ) from error
        raise ConfigurationError(f"The chat model {name!r} cannot be used: {error}") from error
