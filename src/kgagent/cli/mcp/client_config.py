"""Configurations of MCP clients that start the server by themselves."""

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kgagent.settings import Settings

NAME = "kgagent"


class Client(StrEnum):
    """A client whose form of configuration is known."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    ZED = "zed"

    @property
    def place(self) -> str:
        """The file that the configuration belongs in."""
        return _PLACES[self]


_PLACES = {
    Client.CLAUDE_DESKTOP: "claude_desktop_config.json (Settings, Developer, Edit Config)",
    Client.CLAUDE_CODE: ".mcp.json in the project's folder",
    Client.CURSOR: "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
    Client.VSCODE: ".vscode/mcp.json, or the file of the command `MCP: Open User Configuration`",
    Client.WINDSURF: "~/.codeium/windsurf/mcp_config.json",
    Client.ZED: "Zed's settings.json",
}


def client_config(client: Client, environment: "Mapping[str, str]", user: str | None) -> dict[str, Any]:
    """Write the configuration with which a client starts the server.

    Args:
        client: whose form it has.
        environment: settings that the server is given.
        user: whose graph; None leaves it to the settings.
    """
    arguments = ["mcp", *(["--user", user] if user else [])]
    entry: dict[str, Any] = {"command": program(), "args": arguments, "env": dict(environment)}
    match client:
        case Client.VSCODE:
            return {"servers": {NAME: {"type": "stdio", **entry}}}
        case Client.ZED:
            return {"context_servers": {NAME: entry}}
        case Client.CLAUDE_CODE:
            return {"mcpServers": {NAME: {"type": "stdio", **entry}}}
        case _:
            return {"mcpServers": {NAME: entry}}


def program() -> str:
    """Where the `kgagent` that runs now is installed: a desktop client knows no shell's path."""
    beside = Path(sys.executable).with_name("kgagent.exe" if sys.platform == "win32" else "kgagent")
    return str(beside) if beside.exists() else shutil.which("kgagent") or "kgagent"


def environment(settings: "Settings") -> dict[str, str]:
    """The settings that were made, as environment variables: a client starts the server in a folder of its own.

    Secrets are left out, and so are addresses that hold a password.
    """
    return {name: value for name, value, is_secret in _made(settings) if not is_secret}


def left_out(settings: "Settings") -> list[str]:
    """The variables that are set but not written down."""
    return [name for name, _, is_secret in _made(settings) if is_secret]


def missing_for(settings: "Settings") -> str | None:
    """Why a server with these settings cannot start here, and what to do; None where nothing is missing."""
    from kgagent.embedding.factory import embeds_locally
    from kgagent.embedding.local import missing_packages
    from kgagent.extras import install_command

    needed = {
        "NEO4J_URI": settings.neo4j_uri is None and "a Neo4j",
        "OPENAI_API_KEY" if settings.embedder == "auto" else "KGAGENT_EMBEDDER=openai": embeds_locally(settings)
        and "an embedding model",
    }
    wanted = {name: what for name, what in needed.items() if what}
    if not wanted or not missing_packages():
        return None
    return (
        f"The server will not start yet: for {' and '.join(wanted.values())} of its own it needs the extra local "
        f"({install_command('mcp', 'local')}); or set {' and '.join(wanted)}"
    )


def _made(settings: "Settings") -> list[tuple[str, str, bool]]:
    """Name, value and whether it is a secret, of each setting that was made."""
    from pydantic import SecretStr

    made = []
    for field in sorted(settings.model_fields_set):
        value = getattr(settings, field)
        if value is not None:
            text = _text(value)
            made.append((_variable(field), text, isinstance(value, SecretStr) or ("://" in text and "@" in text)))
    return made


def _variable(field: str) -> str:
    name = field.upper()
    return name if name.startswith(("NEO4J_", "OPENAI_")) else f"KGAGENT_{name}"


def _text(value: object) -> str:
    return str(value.resolve()) if isinstance(value, Path) else str(value)
