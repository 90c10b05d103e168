"""up, status, backup and down of a local Neo4j; the only test of the command line that starts a
server.
"""

import sys
from pathlib import Path

import pytest
from neo4j import GraphDatabase

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


def test_up_status_backup_down(
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
        _back_up(kgagent, settings, shown)
        _restore(kgagent, settings | {"KGAGENT_HOME": str(tmp_path / "restored")}, tmp_path)
    finally:
        down = kgagent("down", "--json", settings=settings)
    assert down.payload == {"stopped": True}
    assert kgagent("status", "--json", settings=settings).payload["running"] is False


def _back_up(kgagent: Kgagent, settings: dict[str, str], server: dict[str, str]) -> None:
    """A server that a program uses is not stopped; another one runs again after its backup, at its
    address.
    """
    assert kgagent("export", "before.jsonl", settings=settings).code == 0
    with GraphDatabase.driver(
        server["uri"], auth=(server["username"], server["password"])
    ) as driver:
        driver.verify_connectivity()
        refused = kgagent("backup", "graph.backup", settings=settings)
        assert (refused.code, "1 connection to the local Neo4j will be lost" in refused.err) == (
            1,
            True,
        )
        driver.verify_connectivity()
    done = kgagent("backup", "graph.backup", "--json", settings=settings)
    assert done.code == 0, done.err
    assert done.payload["bytes"] > 0
    after = kgagent("status", "--json", settings=settings).payload
    assert (after["ready"], after["uri"], after["pid"] != server["pid"]) == (
        True,
        server["uri"],
        True,
    )


def _restore(kgagent: Kgagent, settings: dict[str, str], folder: Path) -> None:
    """The restored graph has the same records, and its indexes find them."""
    restored = kgagent("restore-backup", "graph.backup", settings=settings)
    assert restored.code == 0, restored.err
    assert restored.out.startswith("Restored ")
    try:
        assert kgagent("export", "after.jsonl", settings=settings).code == 0
        assert (folder / "after.jsonl").read_bytes() == (folder / "before.jsonl").read_bytes()
        found = kgagent(
            "search", "mentor who guides Ines in her career", "--json", settings=settings
        )
        assert "Ruth is the mentor" in found.out
    finally:
        kgagent("down", settings=settings)


def test_a_backup_of_another_server_is_refused(kgagent: Kgagent) -> None:
    refused = kgagent("backup", "file")
    assert (
        refused.code,
        "kgagent backup is for the local Neo4j, but NEO4J_URI is set" in refused.err,
    ) == (1, True)
