"""Configurations for MCP clients that start the server themselves."""

import json
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kgagent.settings import Settings


NAME = "kgagent"


class Client(StrEnum):
    """An MCP client with a known configuration format."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    ZED = "zed"
    CODEX = "codex"

    @property
    def file(self) -> str:
        """The file that the configuration belongs in."""
        return _FILES[self]


_FILES = {
    Client.CLAUDE_DESKTOP: "claude_desktop_config.json (Settings, Developer, Edit Config)",
    Client.CLAUDE_CODE: ".mcp.json in the project's folder",
    Client.CURSOR: "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
    Client.VSCODE: ".vscode/mcp.json, or the file of the command `MCP: Open User Configuration`",
    Client.WINDSURF: "~/.codeium/windsurf/mcp_config.json",
    Client.ZED: "Zed's settings.json",
    Client.CODEX: "~/.codex/config.toml",
}


def client_config(
    client: Client,
    environment: "Mapping[str, str]",
    user: str | None,
    toolsets: str | None = None,
    readable: "Sequence[str]" = (),
) -> str:
    """The configuration with which a client starts the server.

    Args:
        client: determines the format.
        environment: environment variables of the server.
        user: owner of the graph; None uses the user of the settings.
        toolsets: toolsets to offer; None uses those of the settings.
        readable: other owners whose records are read too.
    """
    arguments = [
        "mcp",
        *(["--user", user] if user else []),
        *(part for owner in readable for part in ("--readable", owner)),
        *(["--toolsets", toolsets] if toolsets else []),
    ]
    entry: dict[str, Any] = {
        "command": program_path(),
        "args": arguments,
        "env": dict(environment),
    }
    match client:
        case Client.VSCODE:
            configuration = {"servers": {NAME: {"type": "stdio", **entry}}}
        case Client.ZED:
            configuration = {"context_servers": {NAME: entry}}
        case Client.CLAUDE_CODE:
            configuration = {"mcpServers": {NAME: {"type": "stdio", **entry}}}
        case Client.CODEX:
            return _toml(entry)
        case _:
            configuration = {"mcpServers": {NAME: entry}}
    return json.dumps(configuration, indent=2, ensure_ascii=False)


def program_path() -> str:
    """Absolute path of the installed `kgagent`; desktop programs do not know the PATH of a
    shell.
    """
    sibling = Path(sys.executable).with_name("kgagent.exe" if sys.platform == "win32" else NAME)
    return str(sibling) if sibling.exists() else shutil.which(NAME) or NAME


def _toml(entry: "Mapping[str, Any]") -> str:
    """The table of a server in the configuration of Codex; a text or list of texts in JSON is one
    in TOML too.
    """
    lines = [
        f"{name} = {json.dumps(entry[name], ensure_ascii=False)}" for name in ("command", "args")
    ]
    variables = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry["env"].items()
    ]
    table = f"mcp_servers.{NAME}"
    return "\n".join(
        [f"[{table}]", *lines, *([f"\n[{table}.env]", *variables] if variables else [])]
    )


def environment(settings: "Settings") -> dict[str, str]:
    """The explicit settings as environment variables, because a client starts the server in another
    folder.

    Secrets, and addresses that contain a password, are omitted.
    """
    return {name: value for name, value, is_secret in _explicit_settings(settings) if not is_secret}


def omitted_secrets(settings: "Settings") -> list[str]:
    """Names of the variables that are set but omitted from the configuration."""
    return [name for name, _, is_secret in _explicit_settings(settings) if is_secret]


def _explicit_settings(settings: "Settings") -> list[tuple[str, str, bool]]:
    """Name, value and secrecy of each setting that was set explicitly."""
    from pydantic import SecretStr

    explicit = []
    for field in sorted(settings.model_fields_set):
        value = getattr(settings, field)
        if value is not None:
            text = _text(value)
            explicit.append(
                (
                    _variable(field),
                    text,
                    isinstance(value, SecretStr) or ("://" in text and "@" in text),
                )
            )
    return explicit


def _variable(field: str) -> str:
    name = field.upper()
    return name if name.startswith(("NEO4J_", "OPENAI_")) else f"KGAGENT_{name}"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value.resolve()) if isinstance(value, Path) else str(value)
