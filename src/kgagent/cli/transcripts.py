"""The turns of a session, read from what a host keeps of it: what the user wrote and what the agent
answered, without private text and without calls of tools.

Read are the files of Claude Code, Codex, Cursor and Gemini CLI, JSON Lines or a JSON array of
messages with `role` and `content`, and plain text. Their hosts may change them without notice;
lines of other forms are skipped.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kgagent.cli.hook_input import public_text
from kgagent.errors import InputError

_SPEAKERS = {
    "user": "User",
    "user_message": "User",
    "assistant": "Agent",
    "agent_message": "Agent",
    "gemini": "Agent",
    "model": "Agent",
}
_NOT_OWN = ("isMeta", "isSidechain", "isCompactSummary")
"""What Claude Code calls messages of a user that the user has not written."""

_RECALLED = re.compile(r"<memory ([0-9a-f]{16})>.*?</memory \1>", re.DOTALL)
_COMMAND = re.compile(r"<(?:command|local-command)-")
"""The beginning of what Claude Code notes of its own commands."""


def session_text(transcript: str) -> tuple[str, str | None]:
    """The turns of a transcript as one text, and the day of the first one, if it is known.

    Raises:
        InputError: it looks like JSON and is none, so that it cannot be told who said what.
    """
    transcript = transcript.replace("\ufeff", "").strip()
    if not transcript.startswith(("{", "[")):
        return _cleaned(transcript), None
    records = _records(transcript)
    turns: dict[str, str] = {}
    for position, record in enumerate(records):
        speaker, said = _turn(record)
        if text := _cleaned(said):
            # A message that its host wrote again when it had changed has the same id.
            turns[str(record.get("id", position))] = f"{speaker}: {text}"
    moments = (str(record["timestamp"]) for record in records if record.get("timestamp"))
    return "\n".join(turns.values()), next((moment[:10] for moment in moments), None)


def _records(transcript: str) -> list[Mapping[str, Any]]:
    """The records of one JSON document, or of lines, of which the last may be cut off."""
    found = _parsed(transcript)
    if isinstance(found, dict):
        found = found["messages"] if isinstance(found.get("messages"), list) else [found]
    elif not isinstance(found, list):
        found = [_parsed(line) for line in transcript.split("\n")]
        if not isinstance(found[0], dict):
            raise InputError(
                "The session looks like JSON, but cannot be read as such, so nothing of it is "
                "stored. Capture it when it is complete"
            )
    return [value for value in found if isinstance(value, dict)]


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _turn(record: Mapping[str, Any]) -> tuple[str, str]:
    """Speaker and text of a record; no text if it is no turn of the session itself."""
    message = record.get("payload" if record.get("type") == "event_msg" else "message")
    message = message if isinstance(message, dict) else record
    names = (message.get("role"), record.get("role"), message.get("type"))
    speaker = next((_SPEAKERS[str(name)] for name in names if str(name) in _SPEAKERS), "")
    content = message.get("content", message.get("message"))
    text = "\n".join(_texts(content if isinstance(content, list) else [content]))
    is_own = not any(record.get(mark) for mark in _NOT_OWN) and not _COMMAND.match(text)
    return speaker, text if speaker and is_own else ""


def _texts(parts: Iterable[object]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type", "text") == "text" and "text" in part:
            yield str(part["text"])


def _cleaned(text: str) -> str:
    """A text without what is private and what was recalled."""
    return _RECALLED.sub("", public_text(text)).strip()
