"""A real Neo4j on this machine, for people who have none."""

from kgagent.local.artifacts import fetch
from kgagent.local.server import LocalNeo4j, ServerInfo, ServerStatus

__all__ = ["LocalNeo4j", "ServerInfo", "ServerStatus", "fetch"]
