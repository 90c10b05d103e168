"""What is known of a local Neo4j."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ServerInfo:
    """A running local Neo4j and how to connect to it."""

    uri: str
    username: str
    password: str = field(repr=False)
    pid: int
    version: str
    home: Path
    log: Path


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """Status of the local Neo4j.

    Attributes:
        running: whether its process is running.
        ready: whether it runs statements.
        info: how to connect to it; None if it is not running.
        home: folder of its data.
        version: Neo4j version that last used the data; None if there is no data.
    """

    running: bool
    ready: bool
    info: ServerInfo | None
    home: Path
    version: str | None
