"""A local Neo4j server that is downloaded and started on demand."""

from kgagent.local.artifacts import fetch
from kgagent.local.backup_file import BackupManifest
from kgagent.local.server import LocalNeo4j
from kgagent.local.server_home import ServerInfo, ServerStatus

__all__ = ["BackupManifest", "LocalNeo4j", "ServerInfo", "ServerStatus", "fetch"]
