"""`kgagent view`, and pages in files."""

import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

from kgagent.adapters.view import ViewGraph
from tests.integration.cli.conftest import PROGRAM, Kgagent
from tests.unit.adapters.view.test_page import Read

LONGEST = 300.0


def test_html_file_contains_the_results(kgagent: Kgagent, family: Path, tmp_path: Path) -> None:
    kgagent("load", str(family))
    done = kgagent("search", "who guides Ines in her career?", "--html", "found.html")
    assert done.code == 0
    assert done.out == ""
    assert "found.html" in done.err
    page = Read((tmp_path / "found.html").read_text("utf-8"))
    seen = ViewGraph.model_validate(page.data["graph"])
    assert [item.relationship.relationship_type for item in seen.relationships] == ["mentor"]
    assert {item.node.name for item in seen.nodes} >= {"Ines Halloran", "Ruth Adeyemi"}


def test_occupied_port_is_one_line(kgagent: Kgagent) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = kgagent("view", "--port", str(taken.getsockname()[1]))
    assert done.code == 1
    assert "Cannot listen on 127.0.0.1" in done.err


def test_view_prints_only_the_address_and_ctrl_c_stops_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "view", "who are my mentors?"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.endswith("/#who%20are%20my%20mentors%3F")
        with urlopen(address, timeout=60) as answer:
            assert b"<h1>kgagent</h1>" in answer.read()
        process.send_signal(signal.SIGINT)
        rest, messages = process.communicate(timeout=LONGEST)
    assert rest == ""
    assert "Traceback" not in messages
