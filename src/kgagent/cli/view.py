"""kgagent view: a page in which a person searches and sees the graph."""

from typing import Annotated

import typer

from kgagent.cli.options import User

DEFAULT_PORT = 0


def view(
    query: Annotated[str, typer.Argument(help="What to search for at once, in words.")] = "",
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")
    ] = DEFAULT_PORT,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    user: User = None,
) -> None:
    """Serve a page, to you on this machine alone, in which you search and see the graph."""
    import asyncio

    from rich.text import Text

    from kgagent.adapters.view import view_server
    from kgagent.cli.browser import opened_in_browser
    from kgagent.cli.graph import user_of, with_graph
    from kgagent.cli.output import say
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = user_of(settings, user)

    async def work(graph: KnowledgeGraph) -> None:
        async with view_server(graph, user_id, port=port) as server:
            address = server.address(query.strip())
            say(Text(f"The graph of {user_id} is at", style="green"))
            typer.echo(address)
            say("[dim]Whoever on this machine has the address can read the graph. Ctrl-C ends it.[/dim]")
            with opened_in_browser(address, wanted=open_browser):
                await asyncio.Event().wait()

    with_graph(work, settings=settings)
