"""up, status and down of a local Neo4j; the only test of the command line that starts a
server.
"""

import sys
from pathlib import Path

import pytest

from kgagent import local, opening
from tests.integration.cli import conftest
from tests.integration.cli.conftest import Kgagent
from tests.support.shared_server import QuickLocalNeo4j

QUICK_PROGRAM = """
import sys

sys.path.insert(0, {root!r})
from kgagent import local
from kgagent.cli.app import main
from tests.support.shared_server import QuickLocalNeo4j

local.LocalNeo4j = QuickLocalNeo4j
main()
"""


@pytest.fixture(autouse=True)
def _servers_that_start_quickly(monkeypatch: pytest.MonkeyPatch, repository_root: Path) -> None:
    monkeypatch.setattr(local, "LocalNeo4j", QuickLocalNeo4j)
    monkeypatch.setattr(opening, "LocalNeo4j", QuickLocalNeo4j)
    quick = QUICK_PROGRAM.format(root=str(repository_root))
    monkeypatch.setattr(conftest, "PROGRAM", (sys.executable, "-c", quick))


def test_up_status_down(
    kgagent: Kgagent,
    program: Kgagent,
    bare_environment: dict[str, str],
    family: Path,
    tmp_path: Path,
) -> None:
    """`up` runs as a program, which the server outlives."""
    settings = bare_environment | {
        "KGAGENT_HOME": str(tmp_path / "home"),
        "KGAGENT_EMBEDDER": "hashing",
    }
    before = kgagent("status", "--json", settings=settings)
    assert (before.code, before.payload["running"], before.payload["server"]) == (0, False, "local")
    assert kgagent("down", "--json", settings=settings).payload == {"stopped": False}
    try:
        up = program("up", "--json", settings=settings)
        assert up.code == 0, up.err
        assert "password" not in up.payload
        assert kgagent("up", "--json", settings=settings).payload["pid"] == up.payload["pid"]
        shown = kgagent("status", "--show-password", "--json", settings=settings).payload
        assert (shown["running"], shown["ready"], shown["uri"]) == (True, True, up.payload["uri"])
        assert shown["password"] == (tmp_path / "home" / "password").read_text()
        assert kgagent("load", str(family), settings=settings).code == 0
    finally:
        down = kgagent("down", "--json", settings=settings)
    assert down.payload == {"stopped": True}
    assert kgagent("status", "--json", settings=settings).payload["running"] is False
