"""The agent's tools as a Model Context Protocol server, over stdio or streamable HTTP."""

from kgagent.extras import require_extra

with require_extra("mcp"):
    from kgagent.adapters.mcp.access_tokens import AccessTokens, load_access_tokens
    from kgagent.adapters.mcp.http import HttpOptions, http_server
    from kgagent.adapters.mcp.oauth import OAuthOptions
    from kgagent.adapters.mcp.opening import OpeningGraph
    from kgagent.adapters.mcp.server import ServerOptions, UserOf, make_server, serve_stdio

__all__ = [
    "AccessTokens",
    "HttpOptions",
    "OAuthOptions",
    "OpeningGraph",
    "ServerOptions",
    "UserOf",
    "http_server",
    "load_access_tokens",
    "make_server",
    "serve_stdio",
]
