"""The command line: registers all commands and reports kgagent's errors as one line."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, ParamSpec

import typer
from rich.text import Text

from kgagent.cli import (
    adopt,
    duplicates,
    evaluate,
    files,
    get,
    ingest,
    maintenance,
    restore,
    search,
    server,
    view,
)
from kgagent.cli.capture import capture
from kgagent.cli.demo import command as demo
from kgagent.cli.hooks.command import hooks
from kgagent.cli.mcp import command as mcp
from kgagent.cli.output import print_message
from kgagent.cli.recall.command import recall
from kgagent.cli.request_options import RequestCommand
from kgagent.errors import KgAgentError, LocalServerError
from kgagent.formatting import in_one_line

ParametersT = ParamSpec("ParametersT")

BROKEN_PIPE_STATUS = 141
"""Exit status if the reader of the output is gone: what shells report for a program that SIGPIPE
ended.
"""


def report_errors(command: Callable[ParametersT, None]) -> Callable[ParametersT, None]:
    """Make a command print kgagent's errors as one red line and exit with 1; other exceptions keep
    their traceback.
    """

    @wraps(command)
    def run(*args: ParametersT.args, **kwargs: ParametersT.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KgAgentError as error:
            print_message(Text(_error_text(error), style="red"))
            raise typer.Exit(1) from error

    return run


app = typer.Typer(
    name="kgagent", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich"
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "up": server.up,
    "down": server.down,
    "status": server.status,
    "init": maintenance.init,
    "load": files.load,
    "ingest": ingest.ingest,
    "search": search.search,
    "explore": search.explore,
    "get": get.get,
    "view": view.view,
    "adopt": adopt.adopt,
    "migrate": maintenance.migrate,
    "duplicates": duplicates.duplicates,
    "restore": restore.restore,
    "purge": maintenance.purge,
    "doctor": maintenance.doctor,
    "eval": evaluate.evaluate,
    "export": files.export,
    "mcp": mcp.mcp,
    "recall": recall,
    "capture": capture,
    "hooks": hooks,
    "import": files.import_,
    "forget": maintenance.forget,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=RequestCommand)(report_errors(_command))


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"kgagent {version('kgagent')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Keep a knowledge graph in Neo4j and search its nodes and relationships semantically."""
    # The driver logs every transaction that it retries.
    logging.getLogger("neo4j").setLevel(logging.ERROR)


def main() -> None:
    """Run the command line; if the reader of its output is gone, as with `| head`, it ends
    silently.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A redirected stream of Windows has the encoding of the console, which lacks most
            # characters.
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, _end)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except (SystemExit, BrokenPipeError) as error:
        # typer and rich turn the broken pipe into SystemExit(1).
        if not isinstance(error, BrokenPipeError) and not isinstance(
            error.__context__, BrokenPipeError
        ):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        sys.exit(BROKEN_PIPE_STATUS)


def _end(number: int, _frame: FrameType | None) -> None:
    """End as the signal asks, and with this process a Neo4j that it was starting."""
    if process := sys.modules.get("kgagent.local.process"):
        process.kill_starting()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _error_text(error: KgAgentError) -> str:
    """The error in one line; errors of the local server keep the lines of its log."""
    return str(error) if isinstance(error, LocalServerError) else in_one_line(str(error))
