"""The MCP server over streamable HTTP: allowed hosts, access tokens and users."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_REQUEST
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from kgagent.adapters.mcp.access_tokens import AccessTokens
from kgagent.adapters.mcp.calls import Context
from kgagent.adapters.mcp.oauth import KeysUnavailable, OAuthOptions, OAuthTokens
from kgagent.adapters.mcp.opening import OpeningGraph
from kgagent.adapters.mcp.server import ServerOptions, UserOf, make_server
from kgagent.errors import ConfigurationError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.validation import check_user_id

PATH = "/mcp"
BACKLOG = 128
MAX_BODY = 1_048_576
"""Bytes of a request."""

KEEP_ALIVE = 75
"""Seconds after which an idle connection is closed: more than clients (usually 5) and proxies
(usually 60) keep theirs.

Otherwise a request can arrive on a connection that is just being closed; the SDK's client then
loses its session.
"""

SHUTDOWN_GRACE = 3
"""Seconds that open streams get to finish when the server shuts down."""


@dataclass(frozen=True, kw_only=True)
class HttpOptions(ServerOptions):
    """Where to listen, who may connect, and what to offer.

    Attributes:
        host: address to listen on; any but a loopback address requires tokens or oauth.
        port: port to listen on; 0 picks a free one.
        user_id: user of all clients, who then need no token.
        tokens: static access tokens of the users.
        oauth: the authorization server whose access tokens name the users; may stand beside tokens.
        allowed_hosts: further host names that clients may use for the server, with or without port.
        stateless: whether clients of the handshake get no session, so that each of their requests
            may reach another process; they then cannot cancel a call other than by disconnecting.
    """

    host: str = "127.0.0.1"
    port: int = 0
    user_id: str | None = None
    tokens: AccessTokens | None = None
    oauth: OAuthOptions | None = None
    allowed_hosts: tuple[str, ...] = ()
    stateless: bool = False

    def __post_init__(self) -> None:
        """Reject options that name no user, or users in two ways."""
        super().__post_init__()
        if (self.user_id is None) != self.needs_token:
            raise ConfigurationError(
                "Give either user_id, for all clients, or tokens or oauth, which name users"
            )
        if self.user_id is not None:
            check_user_id(self.user_id)

    @property
    def needs_token(self) -> bool:
        """Whether each request must have an access token, which decides its user."""
        return self.tokens is not None or self.oauth is not None


@asynccontextmanager
async def http_server(
    graph: KnowledgeGraph | OpeningGraph, options: HttpOptions
) -> AsyncIterator["HttpServer"]:
    """Serve while the block runs.

    Raises:
        ConfigurationError: the address is not available, or is no loopback address and clients need
            no token.
        InputError: a toolset is unknown.
    """
    listening = _listen(options)
    if isinstance(graph, OpeningGraph):
        graph.begin()
    with listening:
        address, port = listening.getsockname()[:2]
        app = _app(graph, options, address, port)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN_GRACE,
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield HttpServer(f"http://{_in_url(address)}:{port}{PATH}", serving)
        finally:
            server.should_exit = True
            await serving


@dataclass(frozen=True)
class HttpServer:
    """A running server.

    Attributes:
        url: URL for clients.
        serving: task that ends when the server does.
    """

    url: str
    serving: asyncio.Task[None]


def _listen(options: HttpOptions) -> socket.socket:
    """Resolve the host name, check the resolved address and bind to it."""
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        if not ip_address(str(address[0]).partition("%")[0]).is_loopback:
            _check_reachable(options)
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"Cannot listen on {options.host}:{options.port}: {error.strerror or error}"
        ) from error


def _check_reachable(options: HttpOptions) -> None:
    if not options.needs_token:
        raise ConfigurationError(
            f"{options.host} can be reached from other machines, so clients must send an access "
            f"token: give a "
            "token file (--tokens FILE) or an authorization server (--oauth-issuer URL), or listen "
            "on 127.0.0.1"
        )
    if options.oauth is not None and options.oauth.resource is None:
        raise ConfigurationError(
            f"{options.host} can be reached from other machines: give the URL under which they "
            f"reach this server "
            "(--oauth-resource URL), because access tokens are made for it"
        )


def _app(
    graph: KnowledgeGraph | OpeningGraph, options: HttpOptions, address: str, port: int
) -> Starlette:
    server = make_server(graph, _user_of(options), options)
    url = f"http://{_in_url(address)}:{port}{PATH}"
    oauth = None if options.oauth is None else OAuthTokens(options.oauth, url, options.tokens)
    verifier = oauth or options.tokens
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=options.stateless,
        transport_security=_security(options, address, port),
        auth=None if oauth is None else oauth.settings,
        token_verifier=verifier,
        max_request_body_size=MAX_BODY,
    )
    if oauth is not None:
        app.add_middleware(KeysUnavailable)
    elif verifier is not None:
        # With OAuth the SDK adds it.
        app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    return app


def _user_of(options: HttpOptions) -> UserOf:
    if options.user_id is not None:
        launched_for = options.user_id
        return lambda _: launched_for
    return _user_of_token


def _user_of_token(context: Context) -> str:
    """The user of the request's token; middleware has already rejected requests without one."""
    user = context.request.scope.get("user") if context.request is not None else None
    if not isinstance(user, AuthenticatedUser) or not user.access_token.subject:
        raise MCPError(INVALID_REQUEST, "The request has no access token")
    return user.access_token.subject


def _security(options: HttpOptions, address: str, port: int) -> TransportSecuritySettings:
    """Allowed hosts and origins, which protect against DNS rebinding by web pages."""
    here = [_in_url(address), _in_url(options.host)]
    if ip_address(address).is_loopback or ip_address(address).is_unspecified:
        here += ["127.0.0.1", "localhost", "[::1]"]
    hosts = list(dict.fromkeys(f"{name}:{port}" for name in here))
    public = (
        ()
        if options.oauth is None or options.oauth.resource is None
        else (urlsplit(options.oauth.resource).netloc,)
    )
    for name in (*options.allowed_hosts, *public):
        hosts += [name] if _has_port(name) else [name, f"{name}:*"]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdecimal() and not name.endswith("]")


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address
