"""kgagent mcp: serves the agent's tools to MCP clients."""

import asyncio
import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from kgagent.cli.graph_session import resolve_user_id
from kgagent.cli.mcp.client_config import Client
from kgagent.cli.options import Readable, Trusted, User
from kgagent.cli.output import print_message
from kgagent.private_files import is_readable_by_others
from kgagent.trust import given_trust

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from kgagent.adapters.mcp import HttpOptions, OpeningGraph
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.settings import Settings

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765


def mcp(
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP instead of stdin and stdout.")
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            help=(
                f"With --http: address to listen on; a public one requires tokens. "
                f"[dim]\\[{DEFAULT_HOST}][/dim]"
            )
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help=f"With --http: port; 0 uses a free port. [dim]\\[{DEFAULT_PORT}][/dim]",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=(
                'With --http: JSON file {"<bearer token>": "<user id>"}; the token of a client '
                "selects the graph."
            ),
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "With --http: additional host name under which clients reach the server. Can be "
                "repeated."
            )
        ),
    ] = None,
    oauth_issuer: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help=(
                "With --http: authorization server whose access tokens (JWT) are accepted and name "
                "the user."
            ),
        ),
    ] = None,
    oauth_resource: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="With --oauth-issuer: URL under which clients reach this server; tokens must be "
            "issued for it. "
            "[dim]\\[http://HOST:PORT/mcp][/dim]",
        ),
    ] = None,
    oauth_audience: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help=(
                "With --oauth-issuer: the claim aud of tokens, if it is not the URL of "
                "--oauth-resource."
            ),
        ),
    ] = None,
    oauth_scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE",
            help="With --oauth-issuer: scope that tokens must have. Can be repeated.",
        ),
    ] = None,
    oauth_user_claim: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM",
            help="With --oauth-issuer: claim of a token that is the user id. [dim]\\[sub][/dim]",
        ),
    ] = None,
    oauth_jwks: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="With --oauth-issuer: URL of the issuer's keys. [dim]\\[from its metadata][/dim]",
        ),
    ] = None,
    stateless: Annotated[
        bool,
        typer.Option(
            "--stateless",
            help=(
                "With --http: keep no sessions, so that a load balancer can send each request to "
                "any process."
            ),
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
        typer.Option(
            "--structured", help="Also return structured content, for clients that are programs."
        ),
    ] = False,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm/--no-confirm",
            help="Ask the user before a call merges or deletes something, if the client can.",
        ),
    ] = True,
    trust: Trusted = None,
    user: User = None,
    readable: Readable = None,
    print_config: Annotated[
        Client | None,
        typer.Option(
            metavar="CLIENT",
            help=f"Print a configuration for a client ({', '.join(Client)}) and exit.",
        ),
    ] = None,
) -> None:
    """Serve the agent's tools to MCP clients, over stdin and stdout or over HTTP."""
    from kgagent.settings import load_settings

    if not http and (
        stateless or (host, port, tokens, allowed_host or None, oauth_issuer) != (None,) * 5
    ):
        raise typer.BadParameter(
            "--host, --port, --tokens, --allowed-host, --oauth-issuer and --stateless require "
            "--http"
        )
    needs_token = tokens is not None or oauth_issuer is not None
    if needs_token and user is not None:
        raise typer.BadParameter(
            "--user excludes --tokens and --oauth-issuer: each token names its user"
        )
    claims: dict[str, Any] = {
        "resource": oauth_resource,
        "audience": oauth_audience,
        "required_scopes": tuple(oauth_scope or ()),
        "user_claim": oauth_user_claim,
        "jwks_url": oauth_jwks,
    }
    claims = {name: value for name, value in claims.items() if value}
    if claims and oauth_issuer is None:
        raise typer.BadParameter("--oauth-… options require --oauth-issuer")
    settings = load_settings()
    if (given := given_trust(trust)) is not None:
        settings = settings.model_copy(update={"trust": given})
    if toolsets is not None:
        from kgagent.tools.toolsets import tools_of

        tools_of(toolsets)
    if print_config is not None:
        if http:
            raise typer.BadParameter(
                "--print-config is for a server over stdin and stdout, without --http"
            )
        _print_config(print_config, settings, user, toolsets, readable or ())
        return

    offer: dict[str, Any] = {
        "toolsets": toolsets,
        "structured": structured,
        "confirm": confirm,
        "readable": tuple(readable or ()),
    }
    if not http:
        from kgagent.adapters.mcp import ServerOptions, serve_stdio

        user_id = resolve_user_id(settings, user)
        _serve(settings, lambda graph: serve_stdio(graph, user_id, ServerOptions(**offer)))
        return
    from kgagent.adapters.mcp import HttpOptions, OAuthOptions, load_access_tokens

    options = HttpOptions(
        host=host or DEFAULT_HOST,
        port=DEFAULT_PORT if port is None else port,
        user_id=None if needs_token else resolve_user_id(settings, user),
        tokens=load_access_tokens(tokens) if tokens else None,
        oauth=OAuthOptions(issuer=oauth_issuer, **claims) if oauth_issuer else None,
        allowed_hosts=tuple(allowed_host or ()),
        stateless=stateless,
        **offer,
    )
    if tokens and is_readable_by_others(tokens):
        warning = f"Other users of this machine can read the tokens: chmod 600 {tokens}"
        print_message(Text(warning, style="yellow"))
    _serve(settings, lambda graph: _serve_http(graph, options))


def _print_config(
    client: Client,
    settings: "Settings",
    user: str | None,
    toolsets: str | None,
    readable: "Sequence[str]",
) -> None:
    from kgagent.cli.mcp.client_config import client_config, environment, omitted_secrets

    typer.echo(client_config(client, environment(settings), user, toolsets, readable))
    print_message(Text(f"Belongs in {client.file}", style="dim"))
    if secrets := omitted_secrets(settings):
        omitted = "Secrets are omitted; also set these variables for the server"
        print_message(Text(f"{omitted}: {', '.join(secrets)}", style="dim"))


def _serve(
    settings: "Settings", serving: "Callable[[OpeningGraph], Coroutine[Any, Any, None]]"
) -> None:
    """Serve while the graph opens in the background; its progress is shown on stderr."""
    from kgagent.adapters.mcp import OpeningGraph
    from kgagent.cli.progress import RichProgress
    from kgagent.observability import observer_from_settings
    from kgagent.ontology import default_ontology, load_ontology
    from kgagent.progress import Progress

    ontology = load_ontology(settings.ontology) if settings.ontology else default_ontology()
    observer = observer_from_settings(settings)

    async def connect(progress: Progress) -> "KnowledgeGraph":
        from kgagent.knowledge_graph import KnowledgeGraph

        graph = await KnowledgeGraph.connect(
            settings=settings, ontology=ontology, progress=progress, observer=observer
        )
        # What lives as long as the server need not be examined again, which takes 60 to 150 ms.
        gc.collect()
        gc.freeze()
        return graph

    async def main() -> None:
        async with OpeningGraph(connect, ontology, settings, RichProgress()) as graph:
            await serving(graph)

    asyncio.run(main())


async def _serve_http(graph: "OpeningGraph", options: "HttpOptions") -> None:
    from kgagent.adapters.mcp import http_server

    async with http_server(graph, options) as server:
        address = (f"Serving MCP at {server.url}", "green")
        print_message(Text.assemble(address, "; stop: Ctrl-C."))
        await server.serving
