"""Files that hold personal or secret data are readable by their owner only."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgagent.private_files import is_readable_by_others, replace_private_file, write_private_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no file modes")


@pytest.fixture(autouse=True)
def permissive_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("write", [write_private_file, replace_private_file])
def test_a_new_file_is_private_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, str], None]
) -> None:
    modes: list[int] = []
    real_open = os.open

    def recording_open(path: str, flags: int, mode: int = 0o777) -> int:
        handle = real_open(path, flags, mode)
        modes.append(mode_of(Path(path)))
        return handle

    monkeypatch.setattr(os, "open", recording_open)
    write(tmp_path / "page.html", "Müller\n")
    assert modes == [0o600]
    assert mode_of(tmp_path / "page.html") == 0o600
    assert (tmp_path / "page.html").read_bytes() == "Müller\n".encode()
    assert len(list(tmp_path.iterdir())) == 1


def test_an_existing_file_is_overwritten_and_keeps_its_mode(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("the old text is longer")
    page.chmod(0o644)
    write_private_file(page, "new")
    assert (page.read_text(), mode_of(page)) == ("new", 0o644)


def test_a_failed_replacement_keeps_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_private_file(state, "new \ud83d")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("state.json", "old")]


@pytest.mark.parametrize(("mode", "expected"), [(0o600, False), (0o604, True)])
def test_whether_others_may_read_a_file_follows_from_its_mode(
    tmp_path: Path, mode: int, *, expected: bool
) -> None:
    file = tmp_path / "tokens.json"
    file.touch()
    file.chmod(mode)
    assert is_readable_by_others(file) is expected


def test_an_unpaired_surrogate_neither_fails_nor_truncates_the_file(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    write_private_file(path, "now \ud83d")
    assert path.read_text("utf-8") == "now ?"
