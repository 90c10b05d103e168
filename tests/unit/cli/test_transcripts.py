"""Transcripts in the forms that hosts write."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kgagent.cli.transcripts import session_text
from kgagent.errors import InputError

RECALLED = "<memory 0123456789abcdef>\nAda knows Bo.\n</memory 0123456789abcdef>"
ASKED = f"Where do I sail? <private>PIN 4711</private>{RECALLED}"
SAID = "User: Where do I sail?\nAgent: From Porto."
WHEN = "2026-11-02T10:00:00.000Z"

CLAUDE_CODE: list[Mapping[str, Any]] = [
    {"type": "summary", "summary": "Sailing", "leafUuid": "u1"},
    {
        **{"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": WHEN},
        "message": {"role": "user", "content": ASKED},
    },
    {
        **{"type": "user", "isMeta": True, "timestamp": WHEN},
        "message": {"role": "user", "content": "Caveat"},
    },
    {"type": "user", "message": {"role": "user", "content": "<command-name>/x</command-name>"}},
    {
        **{"type": "assistant", "timestamp": WHEN},
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm"},
                {"type": "text", "text": "From Porto."},
                {"type": "tool_use", "name": "Read", "input": {}},
            ],
        },
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": "file"}]},
    },
    {"type": "assistant", "isSidechain": True, "message": {"role": "assistant", "content": "Sub"}},
]
CODEX: list[Mapping[str, Any]] = [
    {"timestamp": WHEN, "type": "session_meta", "payload": {"id": "s"}},
    {
        **{"timestamp": WHEN, "type": "response_item"},
        "payload": {
            **{"type": "message", "role": "user"},
            "content": [{"type": "input_text", "text": "<environment_context>"}],
        },
    },
    {"type": "event_msg", "payload": {"type": "user_message", "message": ASKED}},
    {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
    {"type": "event_msg", "payload": {"type": "agent_message", "message": "From Porto."}},
]
CURSOR: list[Mapping[str, Any]] = [
    {"role": "user", "message": {"content": [{"type": "text", "text": ASKED}]}, "timestamp": WHEN},
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "From Porto."}]}},
]
GEMINI: list[Mapping[str, Any]] = [
    {"sessionId": "s", "startTime": WHEN, "kind": "main"},
    {"id": "1", "timestamp": WHEN, "type": "user", "content": [{"text": ASKED}]},
    {"id": "2", "timestamp": WHEN, "type": "gemini", "content": "From"},
    {"$set": {"lastUpdated": WHEN}},
    {"id": "2", "timestamp": WHEN, "type": "gemini", "content": "From Porto."},
    {"id": "3", "timestamp": WHEN, "type": "info", "content": "Saved"},
]
MESSAGES: list[Mapping[str, Any]] = [
    {"role": "user", "content": ASKED, "timestamp": WHEN},
    {"role": "assistant", "content": [{"type": "text", "text": "From Porto."}]},
    {"role": "tool", "content": "file"},
]


@pytest.mark.parametrize("records", [CLAUDE_CODE, CODEX, CURSOR, GEMINI, MESSAGES])
def test_turns_of_lines(records: list[Mapping[str, Any]]) -> None:
    assert session_text("\n".join(map(json.dumps, records))) == (SAID, "2026-11-02")


def test_turns_of_one_document() -> None:
    assert session_text(json.dumps(MESSAGES, indent=1)) == (SAID, "2026-11-02")
    hook = {"hook_event_name": "compaction", "session_id": "s", "messages": MESSAGES}
    assert session_text(json.dumps(hook)) == (SAID, "2026-11-02")


def test_a_plain_text_stays_as_it_is_but_for_what_is_private() -> None:
    assert session_text("Iris: Hello\nRuth: Hi <private>PIN 4711") == (
        "Iris: Hello\nRuth: Hi",
        None,
    )


def test_a_last_line_that_is_cut_off_is_left_out() -> None:
    lines = "\n".join(map(json.dumps, MESSAGES))
    assert session_text(f'\ufeff{lines}\n{{"role": "user", "content": "PIN 47') == (
        SAID,
        "2026-11-02",
    )


@pytest.mark.parametrize("written", [json.dumps(MESSAGES), json.dumps(MESSAGES, indent=1)])
def test_json_that_is_cut_off_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="looks like JSON"):
        session_text(f"\ufeff\n{written[:-9]}")


def test_characters_that_split_or_cannot_be_encoded_lose_no_turn() -> None:
    text = "One\u2028two \ud83d"
    for ensure_ascii in (True, False):
        line = json.dumps({"role": "user", "content": text}, ensure_ascii=ensure_ascii)
        assert session_text(f"{line}\n{line}")[0] == "\n".join(["User: One\u2028two ?"] * 2)
