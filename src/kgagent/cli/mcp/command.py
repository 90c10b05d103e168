"""kgagent mcp: serves the agent's tools to MCP clients."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.mcp.authorization import (
    Audience,
    Issuer,
    KeysUrl,
    Resource,
    Scopes,
    UserClaim,
    load_tokens,
    oauth_options,
)
from kgagent.cli.mcp.client_config import Client
from kgagent.cli.options import User

if TYPE_CHECKING:
    from kgagent.adapters.mcp import HttpOptions
    from kgagent.settings import Settings

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765


def mcp(
    *,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdin and stdout.")] = False,
    host: Annotated[
        str | None,
        typer.Option(
            help=f"With --http: address to listen on; a public one requires tokens. [dim]\\[{DEFAULT_HOST}][/dim]"
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help=f"With --http: port; 0 uses a free port. [dim]\\[{DEFAULT_PORT}][/dim]"),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='With --http: JSON file {"<bearer token>": "<user id>"}; the token of a client selects the graph.',
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="With --http: additional host name under which clients reach the server. Can be repeated."),
    ] = None,
    oauth_issuer: Issuer = None,
    oauth_resource: Resource = None,
    oauth_audience: Audience = None,
    oauth_scope: Scopes = None,
    oauth_user_claim: UserClaim = None,
    oauth_jwks: KeysUrl = None,
    stateless: Annotated[
        bool,
        typer.Option(
            "--stateless",
            help="With --http: keep no sessions, so that a load balancer can send each request to any process.",
        ),
    ] = False,
    toolsets: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Toolsets to offer, separated by commas: core, graph, patterns, admin, or all. "
            "[dim]\\[the setting KGAGENT_TOOLSETS, by default core][/dim]",
        ),
    ] = None,
    structured: Annotated[
        bool,
        typer.Option("--structured", help="Also return structured content, for clients that are programs."),
    ] = False,
    app: Annotated[
        bool,
        typer.Option("--app", help="Offer an MCP App, so that clients which support apps can show results as a graph."),
    ] = False,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm/--no-confirm",
            help="Ask the user before a call merges or deletes something, if the client can.",
        ),
    ] = True,
    user: User = None,
    print_config: Annotated[
        Client | None,
        typer.Option(metavar="CLIENT", help=f"Print a configuration for a client ({', '.join(Client)}) and exit."),
    ] = None,
) -> None:
    """Serve the agent's tools to MCP clients, over stdin and stdout or over HTTP."""
    from kgagent.cli.graph_session import resolve_user_id
    from kgagent.settings import load_settings

    if not http and (stateless or (host, port, tokens, allowed_host or None, oauth_issuer) != (None,) * 5):
        raise typer.BadParameter(
            "--host, --port, --tokens, --allowed-host, --oauth-issuer and --stateless require --http"
        )
    needs_token = tokens is not None or oauth_issuer is not None
    if needs_token and user is not None:
        raise typer.BadParameter("--user excludes --tokens and --oauth-issuer: each token names its user")
    oauth = oauth_options(
        issuer=oauth_issuer,
        resource=oauth_resource,
        audience=oauth_audience,
        scopes=oauth_scope,
        user_claim=oauth_user_claim,
        jwks_url=oauth_jwks,
    )
    settings = load_settings()
    if toolsets is not None:
        from kgagent.tools.toolsets import tools_of

        tools_of(toolsets)
    if print_config is not None:
        if http:
            raise typer.BadParameter("--print-config is for a server over stdin and stdout, without --http")
        _print_config(print_config, settings, user, toolsets)
        return
    if not http:
        _serve_stdio(
            settings, resolve_user_id(settings, user), toolsets, structured=structured, app=app, confirm=confirm
        )
        return

    from kgagent.adapters.mcp import HttpOptions

    _serve_http(
        settings,
        HttpOptions(
            host=host or DEFAULT_HOST,
            port=DEFAULT_PORT if port is None else port,
            user_id=None if needs_token else resolve_user_id(settings, user),
            tokens=load_tokens(tokens) if tokens else None,
            oauth=oauth,
            allowed_hosts=tuple(allowed_host or ()),
            toolsets=toolsets,
            structured=structured,
            app=app,
            confirm=confirm,
            stateless=stateless,
        ),
    )


def _print_config(client: Client, settings: "Settings", user: str | None, toolsets: str | None) -> None:
    from rich.text import Text

    from kgagent.cli.mcp.client_config import client_config, environment, missing_for, omitted_secrets
    from kgagent.cli.output import print_json, print_message

    print_json(client_config(client, environment(settings), user, toolsets))
    print_message(f"[dim]Belongs in {client.file}[/dim]")
    if secrets := omitted_secrets(settings):
        print_message(f"[dim]Secrets are omitted; also set these variables for the server: {', '.join(secrets)}[/dim]")
    if hint := missing_for(settings):
        print_message(Text(hint, style="yellow"))


def _serve_stdio(
    settings: "Settings", user_id: str, toolsets: str | None, *, structured: bool, app: bool, confirm: bool
) -> None:
    from kgagent.adapters.mcp import serve_stdio
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.gc_pauses import short_gc_pauses
    from kgagent.knowledge_graph import KnowledgeGraph

    async def work(graph: KnowledgeGraph) -> None:
        with short_gc_pauses():
            await serve_stdio(graph, user_id, toolsets=toolsets, structured=structured, app=app, confirm=confirm)

    run_with_graph(work, settings=settings)


def _serve_http(settings: "Settings", options: "HttpOptions") -> None:
    from kgagent.adapters.mcp import http_server
    from kgagent.cli.graph_session import run_with_graph
    from kgagent.cli.output import print_message
    from kgagent.gc_pauses import short_gc_pauses
    from kgagent.knowledge_graph import KnowledgeGraph

    async def work(graph: KnowledgeGraph) -> None:
        async with http_server(graph, options) as server:
            with short_gc_pauses():
                print_message(f"[green]Serving MCP at {server.url}[/green]; stop: Ctrl-C.")
                await server.serving

    run_with_graph(work, settings=settings)
