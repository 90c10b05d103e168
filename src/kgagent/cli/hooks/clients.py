"""The files that make a host call `kgagent recall` and `kgagent capture`, in its own format.

A host with hooks gets entries in its configuration beside those that are there, OpenCode a plugin,
and each a skill.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PureWindowsPath
from typing import Any, Literal

from kgagent.cli.mcp.client_config import NAME, program_path
from kgagent.errors import InputError

ClientName = Literal["claude-code", "codex", "cursor", "gemini-cli", "opencode"]

CAPTURE = ("capture", "--background", "--trust", "known")
"""An agent repeats what it has read elsewhere, so that a session is not trusted like its user."""

_WORD = r"""(?:"[^"]*"|[^\s"';&|<>()$`]+)"""
_OURS = re.compile(rf"({_WORD}) (?:recall|{' '.join(CAPTURE)})(?: --user {_WORD})?")
"""A command as it is written here, with any path of the program."""

RECALL_SECONDS, CAPTURE_SECONDS = 5, 3
"""What a host waits for a command; Codex allows no more than three at the end of a session."""


@dataclass(frozen=True)
class Client:
    """A host.

    Attributes:
        home: its folder; a variable of the environment may name another one.
        variable: that variable; empty if there is none.
        hooks: its file with hooks; empty if it has none.
        skills: folder of its skills, in its own or from the home of the user.
        recalls: events at which it calls `kgagent recall`; the first starts the daemon.
        captures: events at which it calls `kgagent capture`.
        second: how its timeouts count a second.
        is_flat: whether an entry is a command, instead of having a list of commands.
    """

    home: str
    variable: str = ""
    hooks: str = ""
    skills: str = "skills"
    recalls: Sequence[str] = ("SessionStart", "UserPromptSubmit")
    captures: Sequence[str] = ("PreCompact", "SessionEnd")
    second: int = 1
    is_flat: bool = False

    @property
    def folder(self) -> Path:
        """Its folder."""
        return Path(os.environ.get(self.variable) or self.home).expanduser()


CLIENTS: Mapping[ClientName, Client] = {
    "claude-code": Client("~/.claude", "CLAUDE_CONFIG_DIR", "settings.json"),
    "codex": Client("~/.codex", "CODEX_HOME", "hooks.json", skills="~/.agents/skills"),
    "cursor": Client(
        "~/.cursor",
        hooks="hooks.json",
        recalls=("sessionStart", "beforeSubmitPrompt"),
        captures=("preCompact", "sessionEnd"),
        is_flat=True,
    ),
    "gemini-cli": Client(
        "~/.gemini",
        hooks="settings.json",
        recalls=("SessionStart", "BeforeAgent"),
        captures=("PreCompress", "SessionEnd"),
        second=1_000,
    ),
    "opencode": Client("~/.config/opencode"),
}

Edit = Callable[[str], str]
"""Returns the text of a file with what is ours."""


def skill() -> str:
    """The text of the skill."""
    return files("kgagent.cli.hooks").joinpath("SKILL.md").read_text("utf-8")


def edits(name: ClientName, user: str | None) -> dict[Path, Edit]:
    """The files of a host, each with what becomes of its text.

    Args:
        name: the host.
        user: owner of the graph; None is the user of the settings.
    """
    client = CLIENTS[name]
    options = ["--user", user] if user else []
    of_skill = client.folder / Path(client.skills).expanduser() / NAME / "SKILL.md"
    if client.hooks:
        path = client.folder / client.hooks
        return {path: lambda text: _with_hooks(path, text, client, options), of_skill: _skill}
    plugin = files("kgagent.cli.hooks").joinpath("opencode.js").read_text("utf-8")
    plugin = plugin.replace('"__CAPTURE__"', json.dumps(CAPTURE))
    written = plugin.replace('"__COMMAND__"', json.dumps([program_path(), options]))
    return {client.folder / "plugins" / f"{NAME}.js": lambda _: written, of_skill: _skill}


def _skill(_before: str) -> str:
    return skill()


def _with_hooks(path: Path, text: str, client: Client, options: Sequence[str]) -> str:
    settings = _settings(path, text)
    if client.is_flat:
        settings.setdefault("version", 1)
    program = program_path()
    quoted = [one if re.fullmatch(_WORD, one) else f'"{one}"' for one in (program, *options)]
    for command, seconds, events in (
        (("recall",), RECALL_SECONDS, client.recalls),
        (CAPTURE, CAPTURE_SECONDS, client.captures),
    ):
        call = " ".join((quoted[0], *command, *quoted[1:]))
        entry: dict[str, Any] = {"command": call, "timeout": seconds * client.second}
        for event in events:
            settings["hooks"].setdefault(event, []).append(
                entry if client.is_flat else {"hooks": [{"type": "command", **entry}]}
            )
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def without_hooks(path: Path, text: str) -> str:
    """The text of a file with hooks without ours; unchanged if it has none.

    Raises:
        InputError: it has no valid JSON.
    """
    settings = _settings(path, text)
    hooks = settings["hooks"]
    kept = {event: _without_ours(entries) for event, entries in hooks.items()}
    if kept == hooks:
        return text
    settings["hooks"] = {
        event: entries for event, entries in kept.items() if entries or not hooks[event]
    }
    if not settings["hooks"]:
        del settings["hooks"]
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _without_ours(entries: Sequence[Any]) -> list[Any]:
    """The commands and groups of commands without our commands, and without groups of only them."""
    kept: list[Any] = []
    for entry in entries:
        group = entry.get("hooks") if isinstance(entry, dict) else None
        if isinstance(group, list):
            others = _without_ours(group)
            kept += [{**entry, "hooks": others}] if others or not group else []
        elif not _is_ours(entry):
            kept.append(entry)
    return kept


def _is_ours(entry: object) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    found = _OURS.fullmatch(str(command))
    # It splits a path at both kinds of slashes.
    program = PureWindowsPath(found[1].strip('"')).name if found else ""
    return program in (NAME, f"{NAME}.exe")


def _settings(path: Path, text: str) -> dict[str, Any]:
    """The settings of a host, with the lists of its hooks.

    Raises:
        InputError: naming what is wrong.
    """
    try:
        settings: dict[str, Any] = json.loads(text.removeprefix("\ufeff").strip() or "{}")
        lists = settings.setdefault("hooks", {}).values()
    except (ValueError, AttributeError):
        lists = [None]
    if not all(isinstance(one, list) for one in lists):
        raise InputError(f"{path} is no JSON object with lists of hooks; it is left as it is")
    return settings
