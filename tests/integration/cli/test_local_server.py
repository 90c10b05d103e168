"""up, status and down of a local Neo4j, as programs; the only test of the command line that starts a server."""

from pathlib import Path

from tests.integration.cli.conftest import Kgagent


def test_up_status_down(program: Kgagent, bare_environment: dict[str, str], tmp_path: Path) -> None:
    settings = bare_environment | {"KGAGENT_HOME": str(tmp_path / "home"), "KGAGENT_EMBEDDER": "hashing"}
    before = program("status", "--json", settings=settings)
    assert (before.code, before.payload["running"], before.payload["server"]) == (0, False, "local")
    assert program("down", "--json", settings=settings).payload == {"stopped": False}
    try:
        up = program("up", "--json", settings=settings)
        assert up.code == 0, up.err
        assert "password" not in up.payload
        assert program("up", "--json", settings=settings).payload["pid"] == up.payload["pid"]
        running = program("status", "--json", settings=settings).payload
        assert (running["running"], running["ready"], running["uri"]) == (True, True, up.payload["uri"])
        shown = program("status", "--show-password", "--json", settings=settings).payload
        assert shown["password"] == (tmp_path / "home" / "password").read_text()
        assert program("init", settings=settings).code == 0
    finally:
        down = program("down", "--json", settings=settings)
    assert down.payload == {"stopped": True}
    assert program("status", "--json", settings=settings).payload["running"] is False
