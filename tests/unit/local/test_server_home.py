from pathlib import Path

import pytest

from kgagent.errors import ServerStartError
from kgagent.local.server_home import ServerHome


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    home = ServerHome(tmp_path / "home")
    home.create()
    return home


def test_password_is_generated_once(home: ServerHome) -> None:
    assert home.password() == home.password()
    assert len(home.password()) >= 32


def test_lost_password_of_a_database_is_not_replaced(home: ServerHome) -> None:
    home.system_database.mkdir(parents=True)

    with pytest.raises(ServerStartError, match="password file"):
        home.password()


@pytest.mark.parametrize("content", [b"{}", b"\xff\xfe"])
def test_invalid_state_is_none(home: ServerHome, content: bytes) -> None:
    home.state.write_bytes(content)

    assert home.read_state() is None


def test_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")

    with pytest.raises(ServerStartError, match=r"file.*KGAGENT_HOME"):
        ServerHome(file / "home").create()
