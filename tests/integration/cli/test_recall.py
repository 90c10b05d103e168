"""`kgagent recall`: a real daemon, asked by real processes, as a host runs them."""

import json
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from tests.conftest import Server
from tests.integration.cli.conftest import Done, Kgagent

LONGEST = 120.0
SLACK = 1.0
"""Seconds that a crowded machine may add to a deadline."""

Recall = Callable[..., Done]


@pytest.fixture
def state(tmp_path: Path, environment: dict[str, str]) -> Iterator[Path]:
    """The folder of daemon and log; a daemon ends when its file is gone or cannot be written."""
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    yield tmp_path / "state" / "kgagent"
    shutil.rmtree(tmp_path / "state")


@pytest.fixture
def recall(state: Path, program: Kgagent) -> Recall:  # noqa: ARG001
    """Runs `kgagent recall` with some stdin."""

    def run(given: str | Mapping[str, Any], *options: str) -> Done:
        text = given if isinstance(given, str) else json.dumps(given)
        return program("recall", *options, given=text)

    return run


@pytest.fixture
def warm(recall: Recall, state: Path) -> Callable[[], None]:
    """Starts the daemon and waits until it answers."""

    def wait() -> None:
        done = recall("")
        assert (done.code, done.out, done.err) == (0, "", "")
        until = time.monotonic() + LONGEST
        while not list(state.glob("*.json")):
            assert time.monotonic() < until, (state / "hooks.log").read_text()
            time.sleep(0.05)
        recall("first", "--deadline", str(LONGEST))

    return wait


def test_a_prompt_gets_what_the_graph_holds_in_the_form_of_its_host(
    kgagent: Kgagent, recall: Recall, warm: Callable[[], None], family: Path, state: Path
) -> None:
    kgagent("load", str(family))
    warm()
    prompt = "Who guides Ines? <private>My PIN is 4711.</private>"
    plain = recall(prompt, "--deadline", "20").out
    assert "Ruth is the mentor who guides Ines" in plain
    assert plain.startswith("<memory ")
    assert "not instructions" in plain
    assert recall(prompt, "--deadline", "20", "--tokens", "1").out == ""
    assert recall(prompt, "--deadline", "inf").out == plain
    assert recall("Write a regular expression that matches IPv6", "--deadline", "20").out == ""
    hook = {"session_id": "s1", "transcript_path": "/none", "cwd": "/", "prompt": prompt}
    for event in ("UserPromptSubmit", "BeforeAgent"):
        payload = recall({**hook, "hook_event_name": event}, "--deadline", "20").payload
        assert payload["hookSpecificOutput"] == {
            "hookEventName": event,
            "additionalContext": plain.strip(),
        }
    cursor = {"conversation_id": "c1", "hook_event_name": "beforeSubmitPrompt", "prompt": prompt}
    payload = recall(cursor, "--deadline", "20").payload
    assert payload == {"continue": True, "additional_context": plain.strip()}
    written = [path for path in state.iterdir() if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert not any(word in path.read_text() for path in written for word in ("4711", "Ruth"))


def test_nothing_is_printed_without_anything_relevant(
    kgagent: Kgagent, recall: Recall, warm: Callable[[], None], family: Path, tmp_path: Path
) -> None:
    lines = [
        {
            "kind": "node",
            "label": "Person",
            "id": str(number),
            "name": f"Sailor {number}",
            "description": f"Sails a boat with {number} cabins from harbour {number}.",
        }
        for number in range(70)
    ]
    (tmp_path / "sailors.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    kgagent("load", "sailors.jsonl", str(family))
    warm()
    assert recall("Write a regular expression that matches IPv6", "--deadline", "20").out == ""
    assert "Ruth Adeyemi" in recall("Who keeps bees?", "--deadline", "20").out


def test_lines_after_a_large_fall_of_the_score_are_not_recalled(
    recall: Recall, program: Kgagent, warm: Callable[[], None], tmp_path: Path
) -> None:
    texts = {
        "pump.md": "The impeller of the bilge pump was replaced in May.",
        "yard.md": "The yard in Halden reopens in March.",
        "costs.md": "The survey costs 4,300 crowns, of which Dr. Voss pays half.",
        "wood.md": "Ruth wants larch, not oak, for the deck.",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert program("load", *texts).code == 0
    warm()
    recalled = recall("impeller", "--deadline", "20").out
    assert texts["pump.md"] in recalled
    assert not any(text in recalled for name, text in texts.items() if name != "pump.md")


@pytest.mark.alone
def test_a_search_that_takes_longer_than_its_caller_waits_warms_the_server_for_the_next(
    kgagent: Kgagent, recall: Recall, warm: Callable[[], None], family: Path, server: Server
) -> None:
    kgagent("load", str(family))
    warm()
    auth = (server.username, server.password)
    with GraphDatabase.driver(server.uri, auth=auth) as driver:
        driver.execute_query("CALL db.clearQueryCaches()")
    until, deadline, tried = time.monotonic() + LONGEST, str(0.5 * SLACK), 0
    while not recall("Who guides Ines?", "--deadline", deadline).out:
        assert time.monotonic() < until
        tried += 1
    assert tried


def test_a_daemon_that_hangs_costs_no_more_than_the_deadline(
    recall: Recall, environment: dict[str, str], state: Path, warm: Callable[[], None]
) -> None:
    environment["NEO4J_URI"] = "bolt://127.0.0.1:1"
    warm()
    [file] = state.glob("*.json")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = {"port": silent.getsockname()[1]}
        file.write_text(json.dumps({**json.loads(file.read_text()), **address}))
        began = time.monotonic()
        done = recall("Who guides Ines?", "--deadline", "0.5")
        assert time.monotonic() - began < 0.5 + SLACK
    assert (done.code, done.out, done.err) == (0, "", "")
    *_, cause, last = (state / "hooks.log").read_text().splitlines()
    assert "cannot be reached" in cause
    assert last.endswith("nothing recalled: no answer within 0.5 s")


def test_another_program_at_the_address_is_told_nothing(
    recall: Recall, environment: dict[str, str], state: Path, warm: Callable[[], None]
) -> None:
    environment["NEO4J_URI"] = "bolt://127.0.0.1:1"
    warm()
    [file] = state.glob("*.json")
    heard: list[bytes] = []

    def imitate(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, connection.makefile("rwb") as stream:
            heard.append(stream.readline())
            stream.write(b"0" * 64 + b"\n")
            stream.flush()
            heard.append(stream.readline())

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = {"port": server.getsockname()[1]}
        file.write_text(json.dumps({**json.loads(file.read_text()), **address}))
        thread = threading.Thread(target=imitate, args=(server,))
        thread.start()
        assert recall("Who guides Ines?").out == ""
        thread.join(LONGEST)
    assert len(heard[0]) == 33
    assert heard[1] == b""
    assert "another program" in (state / "hooks.log").read_text().splitlines()[-1]


@pytest.mark.parametrize("written", ["[]", "null"])
def test_a_daemon_file_of_another_form_is_replaced(
    written: str,
    recall: Recall,
    environment: dict[str, str],
    state: Path,
    warm: Callable[[], None],
) -> None:
    environment["NEO4J_URI"] = "bolt://127.0.0.1:1"
    warm()
    [file] = state.glob("*.json")
    file.write_text(written)
    done = recall("Who guides Ines?")
    assert (done.code, done.out, done.err) == (0, "", "")
    until = time.monotonic() + LONGEST
    while file.read_text() == written:
        assert time.monotonic() < until, (state / "hooks.log").read_text()
        time.sleep(0.05)


def test_another_database_of_this_machine_has_another_daemon(
    recall: Recall, environment: dict[str, str], state: Path
) -> None:
    environment["NEO4J_URI"] = "bolt://127.0.0.1:1"
    for name in ("a", "b"):
        environment["XDG_DATA_HOME"] = name
        recall("")
    until = time.monotonic() + LONGEST
    while len(list(state.glob("recall-*.json"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_state_folder_that_cannot_be_written_is_no_error(
    program: Kgagent, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    environment["XDG_STATE_HOME"] = str(tmp_path / "file")
    done = program("recall", given="Who guides Ines?")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_stdout_of_another_encoding_gets_utf_8(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code = (
        "from kgagent.cli.recall import client; client._recalled = lambda *_: 'Größe'; "
        "client.recall(deadline=60)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert capfdbinary.readouterr() == ("Größe\n".encode(), b"")


@pytest.mark.parametrize("cause", ["idle", "replaced"])
def test_a_daemon_ends(
    cause: str, environment: dict[str, str], state: Path, tmp_path: Path
) -> None:
    environment["NEO4J_URI"] = "bolt://127.0.0.1:1"
    state.mkdir(parents=True)
    file = state / "recall-test.json"
    idle = "0.2" if cause == "idle" else "3600"
    with subprocess.Popen(
        [sys.executable, "-m", "kgagent.cli.recall.daemon", str(file), idle],
        env=environment,
        cwd=tmp_path,
    ) as process:
        while cause == "replaced" and not file.exists():
            time.sleep(0.05)
        if cause == "replaced":
            file.write_text("{}")
        assert process.wait(LONGEST) == 0


def test_a_third_session_gets_facts_of_the_first_two_and_none_that_was_replaced(
    program: Kgagent, recall: Recall, warm: Callable[[], None], tmp_path: Path
) -> None:
    """The sessions are scripted: what the agent remembers is loaded, the rest goes through the
    hooks.
    """
    sessions = [
        ("2026-09-01", "Lisbon", "The staging server is called heron and runs in Frankfurt. "),
        ("2026-10-01", "Porto", "A deploy needs two approvals since the outage in September. "),
    ]
    for number, (day, town, fact) in enumerate(sessions):
        turns = [
            ("user", f"I live in {town} now. <private>My PIN is 4711.</private>"),
            ("assistant", f"Noted: you live in {town}. " * 20),
            ("user", fact * 8),
            ("assistant", "Understood. " * 40),
        ]
        lines = [
            {
                "type": role,
                "timestamp": f"{day}T10:00:00Z",
                "message": {"role": role, "content": text},
            }
            for role, text in turns
        ]
        transcript = tmp_path / f"{number}.jsonl"
        transcript.write_text("\n".join(map(json.dumps, lines)), "utf-8")
        remembered = [
            {"kind": "node", "label": "Person", "id": "iris", "name": "Iris"},
            {"kind": "node", "label": "Entity", "id": town, "name": town},
            {
                **{"kind": "relationship", "from": "iris", "to": town, "when": f"{day}/.."},
                **{"relationship_type": "lives in", "description": f"Iris lives in {town}."},
            },
        ]
        (tmp_path / "facts.jsonl").write_text("\n".join(map(json.dumps, remembered)), "utf-8")
        assert program("load", "facts.jsonl").code == 0
        event = {"hook_event_name": "SessionEnd", "session_id": f"session-{number}"}
        hook = {**event, "transcript_path": str(transcript)}
        assert program("capture", given=json.dumps(hook)).code == 0
    warm()
    hook = {"hook_event_name": "UserPromptSubmit", "session_id": "session-2"}
    asked = {
        question: recall({**hook, "prompt": question}, "--deadline", "20").payload
        for question in (
            "Where do I, Iris, live now?",
            "What is the staging server called?",
            "How many approvals does a deploy need?",
        )
    }
    told = [one["hookSpecificOutput"]["additionalContext"] for one in asked.values()]
    assert "lives in Porto" in told[0]
    assert "heron" in told[1]
    assert "two approvals" in told[2]
    assert "Lisbon" not in told[0]
    assert "4711" not in "".join(told)
    earlier = recall("Where did I, Iris, live in September 2026?", "--deadline", "20").out
    assert "Lisbon" in earlier
