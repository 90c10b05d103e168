"""What is remembered about a local Neo4j between commands."""

import secrets
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.errors import ServerStartError
from kgagent.files import replace_private_file


class State(BaseModel):
    """The record beside the data.

    Attributes:
        version: Neo4j that wrote the data last.
        port: of bolt.
        pid: process of the server; None after it was ended.
        initialised: whether a start with this data came to its end.
    """

    model_config = ConfigDict(frozen=True)

    version: str
    port: int
    pid: int | None = None
    initialised: bool = False


class Home:
    """The folder of one local Neo4j: data, password, configuration, logs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = path / "kgagent.lock"
        self.state = path / "kgagent.json"
        self.password_file = path / "password"
        self.config = path / "conf"
        self.arguments = path / "java.args"
        self.system_database = path / "data" / "databases" / "system"
        self.neo4j_log = path / "logs" / "neo4j.log"
        self.output = path / "server.log"

    def create(self) -> None:
        """Make the folder, for this user only.

        Raises:
            ServerStartError: it cannot be written.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
            self.config.mkdir(exist_ok=True)
        except OSError as error:
            raise ServerStartError(unwritable(self.path, error)) from error

    def read_state(self) -> State | None:
        """The record; None where there is none or it cannot be read."""
        try:
            return State.model_validate_json(self.state.read_text(encoding="utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError):
            return None

    def write_state(self, state: State) -> None:
        """Replace the record."""
        replace_private_file(self.state, state.model_dump_json())

    def password(self) -> str:
        """The server's password; made up when there is none yet.

        Raises:
            ServerStartError: there is data, but its password is gone.
        """
        try:
            return self.password_file.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            if self.system_database.exists():
                raise ServerStartError(
                    f"{self.path} holds a database, but its password file {self.password_file.name} is gone. "
                    "Put the file back, or move the folder away to start with an empty database."
                ) from None
        password = secrets.token_hex(24)
        replace_private_file(self.password_file, password)
        return password


def unwritable(path: Path, error: OSError) -> str:
    """What to tell of a folder that cannot be written."""
    return (
        f"The local Neo4j cannot write to {path}: {error.strerror or error}. "
        "Free space or rights are missing there; KGAGENT_HOME names another folder."
    )
