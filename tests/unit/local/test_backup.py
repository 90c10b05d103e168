"""Backups of a stopped server; `tests/integration/cli/test_local_server.py` backs up a running
one.
"""

import json
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kgagent.errors import InputError
from kgagent.local import LocalNeo4j
from kgagent.local.server_home import ServerHome, ServerState

VERSION = "2026.08.1"
CONTENT = {
    "databases/neo4j/neostore": b"store " * 500_000,
    "databases/neo4j/schema/index/range-1.0/1/index-1": b"index",
    "databases/neo4j/database_lock": b"",
    "transactions/neo4j/neostore.transaction.db.0": bytes(range(256)) * 8_000,
}

KILLED_WHILE = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
from kgagent.local import LocalNeo4j

class Killer:
    @contextmanager
    def task(self, description, total=None):
        done = 0
        def advance(units):
            nonlocal done
            done += units
            if done > total * 3 // 4:
                os.kill(os.getpid(), signal.SIGKILL)
        yield advance

getattr(LocalNeo4j(Path(sys.argv[2])), sys.argv[1])(Path(sys.argv[3]), progress=Killer())
"""


def _kill_while(method: str, home: ServerHome, file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE, method, str(home.path), str(file)], check=False
    )
    assert done.returncode == -signal.SIGKILL


def _data_of(home: ServerHome) -> dict[str, bytes]:
    return {
        path.relative_to(home.data).as_posix(): path.read_bytes()
        for path in home.data.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    """The home of a stopped server with data."""
    home = ServerHome(tmp_path / "home")
    home.create()
    home.password()
    for name, content in (
        {**CONTENT, "databases/system/neostore": b"hash of the password"}
    ).items():
        path = home.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    home.write_state(ServerState(version=VERSION, port=7001, initialised=True))
    return home


@pytest.fixture
def other(tmp_path: Path) -> ServerHome:
    """A home that does not exist yet."""
    return ServerHome(tmp_path / "other")


@pytest.fixture
def file(tmp_path: Path, home: ServerHome) -> Path:
    """A backup of the home."""
    file = tmp_path / "graph.backup"
    LocalNeo4j(home.path).backup(file)
    return file


def test_a_restored_home_has_the_data_and_a_server_that_was_never_started(
    file: Path, other: ServerHome
) -> None:
    manifest = LocalNeo4j(other.path).restore_backup(file)

    assert _data_of(other) == CONTENT
    assert other.read_state() == ServerState(version=VERSION, port=0, pid=None, initialised=False)
    assert (manifest.neo4j_version, manifest.size) == (VERSION, sum(map(len, CONTENT.values())))
    assert stat.S_IMODE(other.path.stat().st_mode) == 0o700


def test_a_backup_has_no_password_and_can_be_read_by_its_owner_only(
    file: Path, home: ServerHome
) -> None:
    with zipfile.ZipFile(file) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())

    assert home.password().encode() not in content
    assert b"hash of the password" not in content
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_home_with_data_is_not_overwritten(file: Path, home: ServerHome) -> None:
    before = _data_of(home)

    with pytest.raises(InputError, match="contains data, which restoring does not replace"):
        LocalNeo4j(home.path).restore_backup(file)

    assert _data_of(home) == before


def test_a_backup_that_was_changed_or_cut_is_refused_and_leaves_the_home_empty(
    file: Path, other: ServerHome
) -> None:
    content = file.read_bytes()
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 0xFF
    for damaged in (changed, content[:-10], b""):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="is not a complete backup"):
            LocalNeo4j(other.path).restore_backup(file)
        assert not other.has_data()

    file.write_bytes(content)
    LocalNeo4j(other.path).restore_backup(file)
    assert _data_of(other) == CONTENT


@pytest.mark.parametrize(
    "name", ["../../outside", "databases/neo4j/../../../outside", "databases/system/neostore"]
)
def test_a_file_outside_of_the_database_is_refused(
    file: Path, other: ServerHome, name: str
) -> None:
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, "x")

    with pytest.raises(InputError, match="not a file of the database"):
        LocalNeo4j(other.path).restore_backup(file)

    assert not other.path.exists()


def test_a_backup_of_the_first_format_is_restored(tmp_path: Path, other: ServerHome) -> None:
    manifest = {
        "format": "kgagent-backup",
        "format_version": 1,
        "neo4j_version": VERSION,
        "created_at": "2026-11-20T10:00:00Z",
        "files": {"databases/neo4j/neostore": {"size": 5, "sha256": "0" * 64}},
    }
    with zipfile.ZipFile(tmp_path / "old", "w") as archive:
        archive.writestr("databases/neo4j/neostore", "store")
        archive.writestr("manifest.json", json.dumps(manifest))

    restored = LocalNeo4j(other.path).restore_backup(tmp_path / "old")

    assert (restored.files, restored.size) == (1, 5)
    assert _data_of(other) == {"databases/neo4j/neostore": b"store"}


@pytest.mark.parametrize("version", ["2026.09.0", "5.26.30"])
def test_data_of_a_newer_or_another_release_line_is_refused(
    home: ServerHome, other: ServerHome, tmp_path: Path, version: str
) -> None:
    home.write_state(ServerState(version=version, port=7001, initialised=True))
    LocalNeo4j(home.path).backup(tmp_path / "file")

    with pytest.raises(InputError, match=f"KGAGENT_LOCAL_NEO4J_VERSION={version}"):
        LocalNeo4j(other.path).restore_backup(tmp_path / "file")


def test_a_killed_backup_leaves_the_earlier_file(file: Path, home: ServerHome) -> None:
    before = file.read_bytes()

    _kill_while("backup", home, file)

    assert file.read_bytes() == before
    assert _data_of(home).items() >= CONTENT.items()


def test_a_killed_restoration_leaves_the_home_empty_and_can_be_repeated(
    file: Path, other: ServerHome
) -> None:
    _kill_while("restore_backup", other, file)
    assert not other.has_data()

    LocalNeo4j(other.path).restore_backup(file)

    assert _data_of(other) == CONTENT
    assert not list(other.path.glob(".new-data-*"))


def test_no_data_or_data_of_an_unknown_version_are_not_backed_up(
    home: ServerHome, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="has no data to back up"):
        LocalNeo4j(tmp_path / "nowhere").backup(tmp_path / "file")
    home.state.unlink()

    with pytest.raises(InputError, match=r"kgagent.json is missing or damaged"):
        LocalNeo4j(home.path).backup(tmp_path / "file")


def test_a_file_that_cannot_be_written_or_read_is_named(
    home: ServerHome, other: ServerHome, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"nowhere/file cannot be written: No such file"):
        LocalNeo4j(home.path).backup(tmp_path / "nowhere" / "file")
    with pytest.raises(InputError, match=r"nowhere/file cannot be read: No such file"):
        LocalNeo4j(other.path).restore_backup(tmp_path / "nowhere" / "file")
