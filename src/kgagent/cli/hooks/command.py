"""kgagent hooks: shows what changes in the configuration of a host, changes it, and takes it
back.
"""

import base64
import difflib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from rich.text import Text

from kgagent.cli.hooks.clients import ClientName, Edit, edits, skill, without_hooks
from kgagent.cli.mcp.client_config import NAME
from kgagent.cli.options import User
from kgagent.cli.output import print_message, without_controls
from kgagent.cli.recall.client import state_folder
from kgagent.errors import InputError
from kgagent.private_files import replace_private_file


class _Change(NamedTuple):
    """What becomes of a file; None where there is none.

    Attributes:
        path: the file.
        now: what it has.
        before: what it has without ours.
        after: what it gets.
    """

    path: Path
    now: bytes | None
    before: bytes | None
    after: bytes | None

    def diff(self) -> str:
        """The difference for a person."""
        now, after = (
            (text or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for text in (self.now, self.after)
        )
        lines = difflib.unified_diff(now, after, str(self.path), str(self.path))
        return without_controls("".join(one if one.endswith("\n") else f"{one}\n" for one in lines))


def hooks(
    action: Annotated[
        Literal["install", "uninstall", "skill"],
        typer.Argument(help="skill prints the skill that install writes.", show_default=False),
    ],
    client: Annotated[
        ClientName | None, typer.Argument(help="The host.", show_default=False)
    ] = None,
    *,
    only_print: Annotated[
        bool, typer.Option("--print", help="Only print what would change.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    user: User = None,
) -> None:
    """Let a host call `kgagent recall` at each prompt, and `kgagent capture` when a session ends.

    The entries are added to its configuration beside what is there, and a skill is written; the
    difference is shown first. `uninstall` leaves the files as they were before, or removes only
    what is ours from those that have been changed since.
    """
    if action == "skill":
        typer.echo(skill())
        return
    if client is None:
        raise typer.BadParameter(f"{action} needs a client, such as claude-code")
    record = state_folder() / f"hooks-{client}.json"
    known = json.loads(record.read_text("utf-8")) if record.exists() else {}
    changes = [
        _change(path, edit if action == "install" else None, known.get(str(path)))
        for path, edit in edits(client, user).items()
    ]
    changed = [one for one in changes if one.now != one.after]
    typer.echo("".join(one.diff() for one in changed), nl=False)
    if only_print:
        return
    if changed and not yes:
        typer.confirm("Change these files?", abort=True, err=True)
    # First, so that what is interrupted can be taken back.
    replace_private_file(record, json.dumps({str(one.path): _record(one) for one in changes}))
    for one in changed:
        _write(one)
    if action == "uninstall":
        record.unlink()
    print_message(Text(f"{client}: {action}ed" if changed else "Nothing to change", style="green"))
    if client == "codex" and action == "install":
        print_message("Codex runs them when you have trusted them: /hooks")


def _change(path: Path, edit: Edit | None, known: Mapping[str, str] | None) -> _Change:
    """What becomes of a file.

    Args:
        path: the file.
        edit: what adds ours; None takes it out.
        known: what was recorded when ours was added.
    """
    now = before = path.read_bytes() if path.exists() else None
    if now is not None and known and known["written"] == hashlib.sha256(now).hexdigest():
        before = base64.b64decode(known["before"]) if "before" in known else None
    elif now is not None and path.suffix == ".json":
        before = without_hooks(path, now.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )
    after = before
    if edit is not None:
        text = (before or b"").decode("utf-8", "surrogateescape")
        after = edit(text).encode("utf-8", "surrogateescape")
    return _Change(path, now, before, after)


def _record(change: _Change) -> dict[str, str]:
    before = {} if change.before is None else {"before": base64.b64encode(change.before).decode()}
    return {**before, "written": hashlib.sha256(change.after or b"").hexdigest()}


def _write(change: _Change) -> None:
    try:
        if change.after is not None:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            change.path.write_bytes(change.after)
            return
        change.path.unlink()
        if change.path.parent.name == NAME:
            change.path.parent.rmdir()
    except OSError as error:
        raise InputError(f"{change.path} cannot be written: {error.strerror or error}") from error
