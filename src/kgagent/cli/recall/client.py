"""The side of `kgagent recall` for which a host waits: it asks the daemon, within a deadline.

It uses the standard library alone, so that a call takes a tenth of a second. Whatever fails is one
line in a log file, and the host sees nothing of it.
"""

import hashlib
import hmac
import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from kgagent.cli.hook_input import read_hook_input

TOKENS = 400
DEADLINE = 0.8
EXIT_TIME = 0.1
"""Seconds of the deadline that are left for the end of the process."""

MAX_PROMPT = 2_000
"""Characters of a prompt that are searched for."""

ADDRESS = "127.0.0.1"
VERSION = str(Path(__file__).stat().st_mtime_ns)
"""What tells this installation from another one: when it was written."""

_SETTINGS = ("NEO4J_", "OPENAI_", "KGAGENT_", "XDG_DATA_HOME")
_PATHS = ("KGAGENT_ONTOLOGY", "KGAGENT_HOME", "KGAGENT_CACHE")
_OPTIONS = {"--user": str, "--tokens": int, "--deadline": float}


def plain_options(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The options of a call; None if they are not pairs of a name and a value, such as --help."""
    pairs = zip(arguments[::2], arguments[1::2], strict=False)
    try:
        options = {name[2:]: _OPTIONS[name](value) for name, value in pairs}
    except (KeyError, ValueError):
        return None
    return None if len(arguments) % 2 else options


def recall(user: str | None = None, tokens: int = TOKENS, deadline: float = DEADLINE) -> None:
    """Print what the graph holds on the prompt on stdin, in the form that its host reads.

    Args:
        user: owner of the graph; None is the user of the settings.
        tokens: maximum number of tokens of the text.
        deadline: seconds from the start of this process.
    """
    end = _started() + deadline - EXIT_TIME
    answers: list[str] = []

    def ask() -> None:
        try:
            answers.append(_recalled(user, tokens, end))
        except Exception as error:
            answers.append("")
            log(f"nothing recalled: {described(error)}")

    # The process does not wait for a thread that still reads stdin or waits for the daemon.
    worker = threading.Thread(target=ask, daemon=True)
    worker.start()
    worker.join(min(max(0.0, end - time.monotonic()), threading.TIMEOUT_MAX))
    if not answers:
        log(f"nothing recalled: no answer within {deadline:g} s")
    elif answers[0]:
        # Not by sys.stdout, whose encoding may lack a character, and which fails again at the end.
        with suppress(OSError):
            os.write(1, f"{answers[0]}\n".encode("utf-8", "replace"))


def log(line: str) -> None:
    """Write a line to the log file; never a prompt, or what was recalled."""
    with suppress(OSError, RuntimeError), log_file() as file:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S")
        file.write(f"{moment} {' '.join(line.split())}\n".encode("utf-8", "replace"))


def described(error: Exception) -> str:
    """An error for the log: only its type if its text may quote what was said."""
    name = type(error).__name__
    return name if isinstance(error, ValueError) else f"{name}: {error}"


def log_file() -> BinaryIO:
    """The log file, to write at its end."""
    return open(
        state_folder() / "hooks.log", "ab", opener=lambda path, flags: os.open(path, flags, 0o600)
    )


def start(*arguments: str, given: str = "", errors: BinaryIO | None = None) -> None:
    """Start a Python process that lives on after this one.

    Args:
        arguments: those of Python.
        given: what the process reads from stdin.
        errors: its stderr; default: it has none.
    """
    import subprocess

    process = subprocess.Popen(  # noqa: S603 - no untrusted arguments
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors or subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
    )
    if process.stdin is not None:
        process.stdin.write(given.encode("utf-8", "replace"))
        process.stdin.close()
    # Python warns when the Popen object of a running process is deleted.
    process.returncode = 0


def proof(secret: str, nonce: str) -> bytes:
    """What only a process that knows the secret can answer."""
    return hmac.new(secret.encode(), nonce.encode(), "sha256").hexdigest().encode()


def _recalled(user: str | None, tokens: int, end: float) -> str:
    given = read_hook_input(_stdin())
    request = {"query": given.prompt[:MAX_PROMPT].strip(), "user": user, "tokens": tokens}
    file = _daemon_file()
    try:
        answer = _ask(file, {**request, "seconds": end - time.monotonic()})
    except Exception as error:
        start("-m", "kgagent.cli.recall.daemon", str(file))
        log(f"nothing recalled: the daemon has been started, as none answered ({error})")
        return ""
    if problem := answer.get("problem"):
        log(f"nothing recalled: {problem}")
    text = answer.get("text")
    return given.as_context(text) if text else ""


def _started() -> float:
    """When this process started, by the monotonic clock."""
    try:
        # The time in ticks since the start of the machine is the 22nd value.
        ticks = int(Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        age = time.process_time()
    return time.monotonic() - age


def _stdin() -> str:
    parts = list(iter(lambda: os.read(0, 1 << 16), b""))
    return b"".join(parts).decode("utf-8", "replace")


def state_folder() -> Path:
    """The private folder of the log and of the daemons' addresses."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state", "kgagent")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _daemon_file() -> Path:
    """The file with the address and the secret of the daemon for the settings of this process."""
    settings = [
        f"{name}={Path(value).expanduser().absolute() if name in _PATHS else value}"
        for name, value in os.environ.items()
        if name.upper().startswith(_SETTINGS) or name == "HOME"
    ]
    if (file := Path(".env")).is_file():
        settings += [str(Path.cwd()), file.read_text("utf-8", "replace")]
    digest = hashlib.sha256("\0".join(sorted(settings)).encode("utf-8", "replace")).hexdigest()
    return state_folder() / f"recall-{digest[:16]}.json"


def _ask(file: Path, request: Mapping[str, Any]) -> dict[str, str]:
    """Send a request to the daemon and return its answer.

    Raises:
        Exception: no daemon of this version answers, or the file has no address.
    """
    state = json.loads(file.read_text("utf-8"))
    if state["version"] != VERSION:
        raise ValueError("it is of another version")
    secret, nonce = state["secret"], secrets.token_hex(16)
    with (
        socket.create_connection((ADDRESS, state["port"])) as connection,
        connection.makefile("rwb") as stream,
    ):
        stream.write(f"{nonce}\n".encode())
        stream.flush()
        if not hmac.compare_digest(stream.readline().strip(), proof(secret, nonce)):
            raise ConnectionError("another program listens at its address")
        stream.write(json.dumps({**request, "secret": secret}).encode() + b"\n")
        stream.flush()
        answer: dict[str, str] = json.loads(stream.readline())
        return answer
