import stat
from pathlib import Path

import pytest

from kgagent.errors import ServerStartError
from kgagent.local.server_home import ServerHome, ServerState


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    home = ServerHome(tmp_path / "home")
    home.create()
    return home


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_user_can_access_the_home_and_the_password(home: ServerHome) -> None:
    home.password()

    assert _mode(home.path) == 0o700
    assert _mode(home.password_file) == 0o600


def test_password_is_generated_once(home: ServerHome) -> None:
    assert home.password() == home.password()
    assert len(home.password()) >= 32


def test_lost_password_of_a_database_is_not_replaced(home: ServerHome) -> None:
    home.system_database.mkdir(parents=True)

    with pytest.raises(ServerStartError, match="password file"):
        home.password()


def test_state_reads_back_as_written(home: ServerHome) -> None:
    state = ServerState(version="2026.08.1", port=7001, pid=42, initialised=True)

    home.write_state(state)

    assert home.read_state() == state


@pytest.mark.parametrize("content", [b"{}", b"\xff\xfe"])
def test_invalid_state_is_none(home: ServerHome, content: bytes) -> None:
    home.state.write_bytes(content)

    assert home.read_state() is None


def test_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")

    with pytest.raises(ServerStartError, match=r"file.*KGAGENT_HOME"):
        ServerHome(file / "home").create()
