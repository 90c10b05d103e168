"""kgagent ingest: a chat model reads conversations and texts into the graph."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json, User

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from kgagent.cli.ingest_view import Outcome
    from kgagent.knowledge_graph import KnowledgeGraph


def ingest(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Texts; .json: an object with name and turns (speaker, text, at), or those turns alone; "
            "or folders, of which .txt, .md and .json are read.",
            exists=True,
            show_default=False,
        ),
    ],
    *,
    model: Annotated[str, typer.Option(help='Chat model as "provider:name", such as openai:gpt-5.')],
    name: Annotated[str | None, typer.Option(help="Title of the source. [dim]\\[the file's name][/dim]")] = None,
    source_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="Under which the source stays the same when its text changes. [dim]\\[the file's path][/dim]",
        ),
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S%z"],
            help="When it was said or written, for files that do not tell.",
        ),
    ] = None,
    instructions: Annotated[
        str, typer.Option(help='What the model is told beside the rules, such as "The graph is that of Iris."')
    ] = "",
    user: User = None,
    force: Annotated[bool, typer.Option("--force", help="Read again what was read or refused before.")] = False,
    report_to: Annotated[Path | None, typer.Option("--report", help="Write the report here, as Markdown.")] = None,
    json: Json = False,
) -> None:
    """Read conversations and texts into the graph with a chat model; run it again to go on where it stopped.

    A file that changed is read as a newer version of itself. Where not all was read to the end, the exit code is 1. It
    takes the extra `ingest` and the package of the provider.
    """
    from kgagent.cli.graph import user_of, with_graph
    from kgagent.cli.ingest_files import Given, files_in, read_sources
    from kgagent.cli.ingest_view import as_json, as_markdown, is_well, read_each, told
    from kgagent.cli.output import emit, show
    from kgagent.files import write_private_file
    from kgagent.ingestion import Ingestor
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = user_of(settings, user)
    found = files_in(files)
    is_one = found == files and len(files) == 1
    if not is_one and (name or source_id):
        raise typer.BadParameter(f"--name and --id are those of one file, got {len(found)}")
    sources = read_sources(found, Given(id=source_id, name=name, date=date), strictly=is_one)
    chat_model = make_chat_model(model)

    async def work(graph: "KnowledgeGraph") -> "list[Outcome]":
        ingestor = Ingestor(graph, chat_model, user_id=user_id, instructions=instructions)
        return [outcome async for outcome in read_each(ingestor, sources, force=force)]

    outcomes = with_graph(work, settings=settings)
    if report_to is not None:
        write_private_file(report_to, as_markdown(outcomes))
    if json:
        emit(as_json(outcomes, is_one=is_one))
    else:
        show(*told(outcomes))
    if not is_well(outcomes):
        raise typer.Exit(1)


def make_chat_model(name: str) -> "BaseChatModel":
    """Make a chat model by its name.

    Raises:
        ConfigurationError: a package is missing, or the model cannot be used so.
    """
    from kgagent.errors import ConfigurationError
    from kgagent.extras import require_extra

    with require_extra("ingest"):
        from langchain.chat_models import init_chat_model
    try:
        return init_chat_model(name)
    except Exception as error:
        # Each provider refuses in its own way.
        if "model provider" in str(error):
            raise ConfigurationError(
                f'The chat model {name!r} cannot be used: write it as "provider:name", with a provider that LangChain '
                "knows, such as openai:gpt-5 or ollama:qwen3"
            ) from error
        raise ConfigurationError(f"The chat model {name!r} cannot be used: {error}") from error
