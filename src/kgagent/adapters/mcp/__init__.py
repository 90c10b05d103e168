"""The agent's tools as a Model Context Protocol server, over stdio or streamable HTTP."""

from kgagent.extras import require_extra

with require_extra("mcp"):
    from kgagent.adapters.mcp.access_tokens import AccessTokens, load_access_tokens
    from kgagent.adapters.mcp.http import HttpOptions, http_server
    from kgagent.adapters.mcp.oauth import OAuthOptions
    from kgagent.adapters.mcp.server import UserOf, make_server
    from kgagent.adapters.mcp.stdio import serve_stdio

__all__ = [
    "AccessTokens",
    "HttpOptions",
    "OAuthOptions",
    "UserOf",
    "http_server",
    "load_access_tokens",
    "make_server",
    "serve_stdio",
]
