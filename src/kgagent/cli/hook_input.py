"""What a host writes to a hook's stdin, and the form in which it takes context from its stdout.

It uses the standard library alone, like all that a host waits for at each prompt.
"""

import json
import re
from dataclasses import dataclass

from kgagent.formatting import encodable

_PRIVATE = re.compile(r"<\s*(?P<end>/?)\s*private\b[^>]*>", re.IGNORECASE)

_CURSOR_PROMPT = "beforeSubmitPrompt"


@dataclass(frozen=True)
class HookInput:
    """The input of a hook; of plain text only the prompt.

    Attributes:
        prompt: what the user wrote, without what is private.
        event: the host's name of the event; empty for plain text.
        session: identity of the session.
        transcript: path of the file of the session.
    """

    prompt: str = ""
    event: str = ""
    session: str = ""
    transcript: str = ""

    def as_context(self, text: str) -> str:
        """A text in the form that the host adds to the prompt."""
        if not self.event:
            return text
        if self.event == _CURSOR_PROMPT:
            return json.dumps({"continue": True, "additional_context": text})
        # The form of Claude Code, which Codex and Gemini CLI share.
        output = {"hookEventName": self.event, "additionalContext": text}
        return json.dumps({"hookSpecificOutput": output})


def read_hook_input(text: str) -> HookInput:
    """Read what a hook got on stdin: a JSON object of a host, or else the text of a prompt."""
    text = text.removeprefix("\ufeff")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or given.keys().isdisjoint(("hook_event_name", "prompt")):
        return HookInput(prompt=public_text(text))
    return HookInput(
        prompt=public_text(str(given.get("prompt") or "")),
        event=str(given.get("hook_event_name") or ""),
        session=str(given.get("session_id") or given.get("conversation_id") or ""),
        transcript=str(given.get("transcript_path") or ""),
    )


def public_text(text: str) -> str:
    """A text without what stands between <private> and </private>; without an end, to the end of
    the text. What cannot be encoded is "?".
    """
    text = encodable(text)
    kept: list[str] = []
    depth = end = 0
    for mark in _PRIVATE.finditer(text):
        if not depth:
            kept.append(text[end : mark.start()])
        depth = max(0, depth - 1) if mark["end"] else depth + 1
        end = mark.end()
    return "".join(kept) if depth else "".join((*kept, text[end:]))
