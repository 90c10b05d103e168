"""The agent's tools as a Model Context Protocol server, over stdio or streamable HTTP.

A name is imported when it is first used: a server over stdio needs neither HTTP nor OAuth.
"""

import lazy_loader

from kgagent.extras import require_extra

with require_extra("mcp"):
    from kgagent.adapters.mcp import server  # noqa: F401 - fails if the extra is missing

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
