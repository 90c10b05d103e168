"""The command line as a whole."""

import logging
from typing import Annotated

import typer

from kgagent.cli import doctor, down, explore, ingest, init, load, migrate, search, status, up, view
from kgagent.cli.demo import command as demo
from kgagent.cli.mcp import command as mcp
from kgagent.cli.plain_errors import plain_errors

app = typer.Typer(name="kgagent", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")
for _command in (
    demo.demo,
    up.up,
    down.down,
    status.status,
    init.init,
    load.load,
    ingest.ingest,
    search.search,
    explore.explore,
    view.view,
    migrate.migrate,
    doctor.doctor,
    mcp.mcp,
):
    app.command()(plain_errors(_command))


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kgagent {version('kgagent')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Keep a knowledge graph in Neo4j and search its relationships by meaning."""
    # The driver tells of every transaction that it tries again.
    logging.getLogger("neo4j").setLevel(logging.ERROR)


def main() -> None:
    """Run the command line."""
    app()
