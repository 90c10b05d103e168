"""`kgagent capture`: what is stored of a session, and what is not."""

import json
import time
from pathlib import Path

from kgagent import KnowledgeGraph
from tests.integration.cli.conftest import Kgagent
from tests.support.stored import cypher

SECRET = "heron-4711"


def line(role: str, text: str) -> str:
    return json.dumps(
        {
            **{"type": role, "sessionId": "s1", "timestamp": "2026-11-02T10:00:00Z"},
            "message": {"role": role, "content": text},
        }
    )


SESSION = [
    line("user", f"Where does Ruth sail? <private>The code is {SECRET}.</private>"),
    line("assistant", "Ruth sails from Porto. " * 30),
    line("user", f"And Bo? <private>{SECRET}"),
    line("assistant", "Bo sails from Lisbon. " * 30),
]


async def test_a_session_is_a_source_and_captured_again_only_what_is_new_is_embedded(
    program: Kgagent, graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text("\n".join(SESSION), "utf-8")
    done = program("capture", str(path), "--trust", "known")
    assert (done.code, done.err.strip()) == (0, "Session s1: stored")
    passages = (
        "MATCH (n:KgagentStatement {user_id: $user}) WHERE n.is_passage "
        "RETURN n.text AS text, elementId(n) AS id"
    )
    before = {row["text"]: row["id"] for row in await cypher(graph, passages, user=user_id)}
    assert any("Ruth sails from Porto" in text for text in before)
    path.write_text("\n".join([*SESSION, line("user", "Thanks. " * 80)]), "utf-8")
    program("capture", str(path), "--trust", "known")
    after = {row["text"]: row["id"] for row in await cypher(graph, passages, user=user_id)}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1
    sources = await cypher(
        graph,
        "MATCH (n:Source {user_id: $user}) "
        "RETURN n.name AS name, n.said_on AS day, n.trust_class AS trust",
        user=user_id,
    )
    assert [dict(row) for row in sources] == [
        {"name": "Session s1", "day": "2026-11-02", "trust": "known"}
    ]
    stored = await cypher(graph, "MATCH (n {user_id: $user}) RETURN n", user=user_id)
    assert SECRET not in str(stored)


def test_a_hook_captures_in_the_background(
    program: Kgagent, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(SESSION), "utf-8")
    hook = {"hook_event_name": "SessionEnd", "session_id": "s2", "transcript_path": str(path)}
    done = program("capture", "--background", given=json.dumps(hook))
    assert (done.code, done.out, done.err) == (0, "", "")
    log = tmp_path / "state" / "kgagent" / "hooks.log"
    until = time.monotonic() + 60
    while "Session s2: stored" not in log.read_text():
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.1)
    assert SECRET not in log.read_text()


def test_a_session_that_cannot_be_read_is_one_line(kgagent: Kgagent) -> None:
    done = kgagent("capture", "/no/such/file")
    assert done.code == 1
    assert done.err.startswith("The session cannot be read")


async def test_a_session_that_was_cut_off_or_cannot_be_encoded_tells_no_secret(
    program: Kgagent, graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "s3.json"
    path.write_text(json.dumps([{"role": "tool", "content": SECRET}])[:-2], "utf-8-sig")
    done = program("capture", str(path))
    assert done.code == 1
    assert "looks like JSON" in done.err
    messages = [{"role": "user", "content": "Ruth sails \ud83d"}]
    hook = {"hook_event_name": "x", "session_id": "s\ud83d", "messages": messages}
    done = program("capture", given=json.dumps(hook))
    assert (done.code, done.err.strip()) == (0, "Session s?: stored")
    path.write_text(json.dumps({"role": "user", "content": SECRET, "timestamp": SECRET}), "utf-8")
    done = program("capture", str(path))
    assert (done.code, done.err.strip()) == (1, "Session s3 cannot be stored: InputError")
    stored = await cypher(graph, "MATCH (n {user_id: $user}) RETURN n", user=user_id)
    assert SECRET not in str(stored)
