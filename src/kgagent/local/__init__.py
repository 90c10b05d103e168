"""A local Neo4j server that is downloaded and started on demand."""

from kgagent.local.artifacts import fetch
from kgagent.local.server import LocalNeo4j
from kgagent.local.server_home import ServerInfo, ServerStatus

__all__ = ["LocalNeo4j", "ServerInfo", "ServerStatus", "fetch"]
