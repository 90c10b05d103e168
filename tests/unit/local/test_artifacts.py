import hashlib
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from jgo.maven import MavenContext, PythonResolver
from pytest_httpserver import HTTPServer
from werkzeug import Response

from kgagent.errors import DownloadError
from kgagent.local import artifacts
from kgagent.local.lock import Lock, LockedFile
from kgagent.progress import Advance

JARS = {"org.sample:one:1": b"one" * 5000, "org.sample:two:2:linux": b"two" * 9000}


class RecordedProgress:
    """A progress display that adds up."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.done = 0

    @contextmanager
    def task(self, _description: str, total: int | None = None) -> Iterator[Advance]:
        self.total = total
        yield self._advance

    def _advance(self, units: int) -> None:
        self.done += units


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Lock:
    files = tuple(
        LockedFile(coordinate=coordinate, sha256=hashlib.sha256(body).hexdigest(), size=len(body))
        for coordinate, body in JARS.items()
    )
    lock = Lock(roots=("org.sample:one:1",), files=files)
    monkeypatch.setattr(artifacts, "load_lock", lambda _name: lock)
    return lock


@pytest.fixture
def repository(httpserver: HTTPServer, lock: Lock, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    """A Maven repository of our own, over real HTTP."""
    _use_repository(monkeypatch, httpserver.url_for("/maven"))
    for file in lock.files:
        body = JARS[file.coordinate]
        httpserver.expect_request(f"/maven/{file.path}").respond_with_data(body)
        httpserver.expect_request(f"/maven/{file.path}.sha1").respond_with_data(
            hashlib.sha1(body).hexdigest()
        )
    return httpserver


def _use_repository(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    def context(folder: Path) -> MavenContext:
        return MavenContext(
            resolver=PythonResolver(), repo_cache=folder, remote_repos={"own": address}
        )

    monkeypatch.setattr(artifacts, "maven_context", context)


def _requested_jars(server: HTTPServer) -> list[str]:
    return sorted(request.path for request, _ in server.log if request.path.endswith(".jar"))


def test_files_are_loaded_once_and_nothing_else_is_left_behind(
    repository: HTTPServer, tmp_path: Path
) -> None:
    paths = artifacts.fetch("sample", cache=tmp_path)
    asked = len(repository.log)

    assert [path.read_bytes() for path in paths] == list(JARS.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["maven"]
    assert artifacts.fetch("sample", cache=tmp_path) == paths
    assert len(repository.log) == asked


def test_damaged_file_in_the_cache_is_downloaded_again(
    repository: HTTPServer, tmp_path: Path
) -> None:
    paths = artifacts.fetch("sample", cache=tmp_path)
    paths[0].write_bytes(b"eno" * 5000)

    artifacts.fetch("sample", cache=tmp_path)

    assert paths[0].read_bytes() == JARS["org.sample:one:1"]
    assert len(_requested_jars(repository)) == len(JARS) + 1


def test_file_with_a_lasting_wrong_checksum_is_named_and_not_kept(
    repository: HTTPServer, lock: Lock, tmp_path: Path
) -> None:
    path = lock.files[0].path
    repository.clear()
    for file in lock.files:
        repository.expect_request(f"/maven/{file.path}").respond_with_data(
            b"<html>Please log in</html>"
        )

    with pytest.raises(DownloadError, match=r"org\.sample:(one|two):.*checksum"):
        artifacts.fetch("sample", cache=tmp_path)

    assert not (tmp_path / "maven" / path).exists()


def test_interrupted_download_is_retried(
    repository: HTTPServer, lock: Lock, tmp_path: Path
) -> None:
    body = JARS["org.sample:one:1"]
    cut = Response(body[:100], headers={"Content-Length": "100"})
    repository.expect_oneshot_request(f"/maven/{lock.files[0].path}").respond_with_response(cut)
    progress = RecordedProgress()

    paths = artifacts.fetch("sample", cache=tmp_path, progress=progress)

    assert paths[0].read_bytes() == body
    assert progress.done == progress.total == sum(map(len, JARS.values()))


@pytest.mark.usefixtures("lock")
def test_no_network_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        _use_repository(monkeypatch, f"http://127.0.0.1:{closed.getsockname()[1]}")

        with pytest.raises(DownloadError, match="network connection"):
            artifacts.fetch("sample", cache=tmp_path)


@pytest.mark.usefixtures("repository")
def test_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file, not a folder")

    with pytest.raises(DownloadError, match=r"cache.*KGAGENT_CACHE"):
        artifacts.fetch("sample", cache=cache)


def test_concurrent_fetches_download_each_file_once(repository: HTTPServer, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: artifacts.fetch("sample", cache=tmp_path), range(2))

    assert first == second
    assert len(_requested_jars(repository)) == len(JARS)
