"""What is personal or secret is its owner's alone."""

import os
from pathlib import Path

import pytest

from kgagent.private_file import is_readable_by_others, write_private_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no modes of files")


@pytest.fixture(autouse=True)
def generous_umask() -> object:
    """As on a machine whose users share what they make."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_is_its_owners_alone_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    opened = os.open

    def noting(path: str, flags: int, mode: int = 0o777) -> int:
        handle = opened(path, flags, mode)
        made.append(mode_of(Path(path)))
        return handle

    monkeypatch.setattr(os, "open", noting)
    write_private_file(tmp_path / "page.html", "Müller\n")
    assert made == [0o600]
    assert mode_of(tmp_path / "page.html") == 0o600
    assert (tmp_path / "page.html").read_bytes() == "Müller\n".encode()


def test_a_file_that_was_there_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("what was there is longer")
    page.chmod(0o644)
    write_private_file(page, "new")
    assert (page.read_text(), mode_of(page)) == ("new", 0o644)


@pytest.mark.parametrize(("mode", "told"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)])
def test_whether_others_may_read_a_file_is_told_by_its_mode(tmp_path: Path, mode: int, *, told: bool) -> None:
    file = tmp_path / "tokens.json"
    file.touch()
    file.chmod(mode)
    assert is_readable_by_others(file) is told


def test_half_a_surrogate_pair_neither_fails_nor_empties_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    write_private_file(path, "now \ud83d")
    assert path.read_text("utf-8") == "now ?"
