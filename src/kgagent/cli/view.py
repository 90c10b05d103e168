"""kgagent view: a page in which a person searches and views the graph."""

import asyncio
import html
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import User
from kgagent.cli.output import print_message

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

_REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
)


def view(
    query: Annotated[str, typer.Argument(help="What to search for when the page opens.")] = "",
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 uses a free port.")
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    user: User = None,
) -> None:
    """Serve a page for searching and viewing the graph, on this machine only."""
    from kgagent.adapters.view import view_server

    async def serve(graph: "KnowledgeGraph", user_id: str) -> None:
        async with view_server(graph, user_id, port=port) as server:
            address = server.address(query.strip())
            print_message(Text(f"The graph of {user_id} is at", style="green"))
            typer.echo(address)
            readers = "Everyone on this machine who knows the address can read the graph"
            print_message(Text(f"{readers}. Stop: Ctrl-C.", style="dim"))
            with opened_in_browser(address) if open_browser else nullcontext():
                await asyncio.Event().wait()

    run_for_user(serve, user, reads=True)


@contextmanager
def opened_in_browser(address: str) -> Iterator[None]:
    """Open an address that contains a secret in the browser, while the block runs.

    The browser is started with a private file that redirects to the address, because other users of
    the machine can see the arguments of processes.
    """
    with tempfile.TemporaryDirectory(prefix="kgagent-") as folder:
        page = Path(folder) / "view.html"
        page.write_text(_REDIRECT.format(address=html.escape(address, quote=True)), "utf-8")
        webbrowser.open(page.as_uri())
        yield
