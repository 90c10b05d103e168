"""The home folder of a local Neo4j: its files, the state stored there between commands, and facts
about the server.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.errors import ServerStartError
from kgagent.extras import require_extra
from kgagent.private_files import replace_private_file

_HASH_ROUNDS = 1024
_MAX_LINES = 15
_NOISE = re.compile(r"^WARNING: |\bat \S+\(.*\)$|\.\.\. \d+ more$")


class ServerState(BaseModel):
    """The stored state of the server.

    Attributes:
        version: Neo4j version that last used the data.
        port: bolt port.
        pid: process id of the server; None after it was stopped.
    """

    model_config = ConfigDict(frozen=True)

    version: str
    port: int
    pid: int | None = None


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


def default_home(major: str) -> Path:
    """Default folder of the local Neo4j's data.

    Args:
        major: first number of the Neo4j version, such as "2026" or "5".
    """
    with require_extra("local"):
        from platformdirs import user_data_path
    return user_data_path("kgagent", appauthor=False) / f"neo4j-{major}"


class ServerHome:
    """The folder of one local Neo4j: data, password, configuration and logs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = path / "kgagent.lock"
        self.state = path / "kgagent.json"
        self.password_file = path / "password"
        self.config = path / "conf"
        self.arguments = path / "java.args"
        self.data = path / "data"
        self.system_database = self.data / "databases" / "system"
        self.initial_user = self.data / "dbms" / "auth.ini"
        self.neo4j_log = path / "logs" / "neo4j.log"
        self.output = path / "server.log"

    def create(self) -> None:
        """Create the folder, accessible to this user only.

        Raises:
            ServerStartError: the folder cannot be written.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
            self.config.mkdir(exist_ok=True)
        except OSError as error:
            raise ServerStartError(not_writable(self.path, error)) from error

    def read_state(self) -> ServerState | None:
        """The stored state; None if it is missing or invalid."""
        try:
            return ServerState.model_validate_json(self.state.read_text(encoding="utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError):
            return None

    def write_state(self, state: ServerState) -> None:
        """Replace the stored state."""
        replace_private_file(self.state, state.model_dump_json())

    def password(self) -> str:
        """The server's password; generated if there is no database yet.

        Raises:
            ServerStartError: a database exists, but its password file is missing.
        """
        try:
            return self.password_file.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            if self.system_database.exists():
                raise ServerStartError(
                    f"{self.path} contains a database, but its password file "
                    f"{self.password_file.name} is missing. "
                    "Restore the file, or move the folder away to start with an empty database."
                ) from None
        password = secrets.token_hex(24)
        replace_private_file(self.password_file, password)
        return password

    def write_initial_user(self, username: str) -> None:
        """Write the user and the password that the first start of a server creates."""
        self.initial_user.parent.mkdir(parents=True, exist_ok=True)
        replace_private_file(self.initial_user, f"{username}:{_hashed(self.password())}:\n")

    def last_log_lines(self) -> str:
        """The last lines of the server's output and log."""
        return "\n".join(map(_last_lines, (self.output, self.neo4j_log)))


def _hashed(password: str) -> str:
    """A password in the form of the admin tool of Neo4j, `dbms set-initial-password`."""
    salt = secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(_HASH_ROUNDS - 1):
        digest = hashlib.sha256(digest).digest()
    return f"SHA-256,{digest.hex()},{salt.hex()},{_HASH_ROUNDS}"


def _last_lines(path: Path) -> str:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return ""
    lines = [line for line in text.splitlines() if line.strip() and not _NOISE.search(line)]
    return "\n".join(lines[-_MAX_LINES:])


def not_writable(path: Path, error: OSError) -> str:
    """The message for a folder that cannot be written."""
    return (
        f"The local Neo4j cannot write to {path}: {error.strerror or error}. "
        "Check free space and permissions, or set KGAGENT_HOME to another folder."
    )
