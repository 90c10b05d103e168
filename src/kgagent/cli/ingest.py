"""kgagent ingest: a chat model reads conversations and texts into the graph."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Json, Trusted, User
from kgagent.cli.output import show
from kgagent.errors import ConfigurationError
from kgagent.extras import require_extra
from kgagent.formatting import counted
from kgagent.private_files import write_output_file
from kgagent.trust import given_trust

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from kgagent.cli.source_files import SourceFile
    from kgagent.knowledge_graph import KnowledgeGraph


def ingest(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Text files; JSON files with an object that has name and turns (speaker, text, "
            "at) or only the list "
            "of turns; or folders, of which all .txt, .md and .json files are read.",
            exists=True,
            show_default=False,
        ),
    ],
    *,
    model: Annotated[
        str, typer.Option(help='Chat model as "provider:name", for example openai:gpt-5.')
    ],
    name: Annotated[
        str | None, typer.Option(help="Title of the source. [dim]\\[name of the file][/dim]")
    ] = None,
    source_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help=(
                "Identity of the source, which stays the same when the text changes. [dim]\\[path "
                "of the file][/dim]"
            ),
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
    prices: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="INPUT OUTPUT",
            help="Prices of a million tokens of requests and of answers, to print the cost.",
        ),
    ] = None,
    trust: Trusted = None,
    user: User = None,
    force: Annotated[
        bool, typer.Option("--force", help="Read sources even if they were read before.")
    ] = False,
    report_to: Annotated[
        Path | None, typer.Option("--report", help="Write the reports to this file, as YAML.")
    ] = None,
    json: Json = False,
) -> None:
    """Read conversations and texts into the graph with a chat model. If it stops, run it again to
    resume.

    A file that changed is read as a newer version of the same source. If anything was not read
    completely, the exit code is 1. Requires the extra `ingest` and the LangChain package of the
    provider.
    """
    with require_extra("ingest"):
        from kgagent.cli.source_files import find_files, read_sources
        from kgagent.ingestion import Ingestor

    paths = find_files(files)
    is_single_file = paths == files and len(files) == 1
    if not is_single_file and (name or source_id):
        raise typer.BadParameter(f"--name and --id require a single file, got {len(paths)}")
    sources = read_sources(paths, strict=is_single_file, source_id=source_id, name=name, date=date)
    chat_model = make_chat_model(model)

    async def work(graph: "KnowledgeGraph", user_id: str) -> None:
        ingestor = Ingestor(
            graph,
            chat_model,
            user_id=user_id,
            instructions=instructions,
            prices=prices,
            trust=given_trust(trust),
        )
        for file in sources:
            if file.source is not None:
                file.report = await ingestor.ingest(file.source, force=force)
                if file.report.state == "stopped":
                    # The cause may persist.
                    break

    run_for_user(work, user)
    all_read = all(file.is_read for file in sources)
    payloads = [file.to_dict() for file in sources]
    if report_to is not None:
        import yaml

        write_output_file(report_to, yaml.safe_dump(payloads, allow_unicode=True, sort_keys=False))
    payload = payloads[0] if is_single_file else {"complete": all_read, "sources": payloads}
    show(payload, *summary_lines(sources), json=json)
    if not all_read:
        raise typer.Exit(1)


def summary_lines(files: "Sequence[SourceFile]") -> Iterator[Text]:
    """Lines for a person."""
    for file in files:
        if file.report is None:
            yield Text.assemble((file.name, "bold"), ": ", (file.error, "red"))
            continue
        state, *more = file.report.summary()
        yield Text.assemble((file.report.name, "bold"), f": {state}")
        yield from map(Text, more)
        yield from (Text(warning, style="yellow") for warning in file.report.warnings)
    if len(files) > 1:
        read = sum(file.is_read for file in files)
        reports = [file.report for file in files if file.report]
        tokens = sum(report.tokens["total_tokens"] for report in reports)
        costs = [report.cost for report in reports if report.cost is not None]
        cost = f", cost {sum(costs):.4f}" if costs else ""
        yield Text(
            f"{read} of {counted(len(files), 'file')} read, {counted(tokens, 'token')}{cost}"
        )


def make_chat_model(name: str) -> "BaseChatModel":
    """Create a chat model by name.

    Raises:
        ConfigurationError: a package is missing, or the model cannot be created.
    """
    with require_extra("ingest"):
        from langchain.chat_models import init_chat_model
    try:
        return init_chat_model(name)
    except Exception as error:
        # Each provider raises its own exceptions.
        if "model provider" in str(error):
            raise ConfigurationError(
                f'The chat model {name!r} cannot be used: write it as "provider:name", with a '
                f"provider that LangChain "
                "knows, for example openai:gpt-5 or ollama:qwen3"
            ) from error
        raise ConfigurationError(f"The chat model {name!r} cannot be used: {error}") from error
