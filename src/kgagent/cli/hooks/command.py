"""kgagent hooks: shows what changes in the configuration of a host, changes it, and takes it
back.
"""

import difflib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
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
    """What a file has, had before ours was added, and gets; None where it does not exist."""

    path: Path
    now: str | None
    before: str | None
    after: str | None

    def diff(self) -> str:
        """The difference for a person."""
        name, now, after = str(self.path), self.now or "", self.after or ""
        lines = difflib.unified_diff(now.splitlines(), after.splitlines(), name, name, lineterm="")
        return "".join(f"{without_controls(line)}\n" for line in lines)


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
    if action == "install":
        # First, so that what is interrupted can be taken back.
        kept = {
            str(one.path): {"before": one.before, "now": one.now, "after": one.after}
            for one in changes
        }
        replace_private_file(record, json.dumps(kept))
    for one in changed:
        _write(one)
    if action == "uninstall":
        record.unlink(missing_ok=True)
    print_message(Text(f"{client}: {action}ed" if changed else "Nothing to change", style="green"))
    if client == "codex" and action == "install":
        print_message("Codex runs them when you have trusted them: /hooks")


def _change(path: Path, edit: Edit | None, known: Mapping[str, str | None] | None) -> _Change:
    """What becomes of a file.

    Args:
        path: the file.
        edit: what adds ours; None takes it out.
        known: what it had before ours was added, at the last install, and after it.
    """
    data = path.read_bytes() if path.exists() else None
    now = before = None if data is None else data.decode("utf-8", "surrogateescape")
    if known and now in (known["after"], known.get("now", known["after"])):
        before = known["before"]
    elif now is not None and path.suffix == ".json":
        before = without_hooks(path, now)
    return _Change(path, now, before, edit(before or "") if edit else before)


def _write(change: _Change) -> None:
    try:
        if change.after is not None:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            # The old file stays until the new one is complete; a link stays a link.
            path = change.path.resolve()
            new = path.with_name(f".{path.name}.{NAME}")
            new.write_bytes(change.after.encode("utf-8", "surrogateescape"))
            if path.exists():
                shutil.copymode(path, new)
            new.replace(path)
            return
        change.path.unlink()
        if change.path.parent.name == NAME:
            # It stays if it has other files.
            with suppress(OSError):
                change.path.parent.rmdir()
    except OSError as error:
        raise InputError(f"{change.path} cannot be written: {error.strerror or error}") from error
