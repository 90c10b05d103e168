"""Files that hold what is personal or secret: who may read them."""

import os
import stat
from pathlib import Path


def write_private_file(path: Path, text: str) -> None:
    """Write a text as UTF-8, with "?" for halves of surrogate pairs.

    A new file is its owner's alone from the beginning (mode 0600, but on Windows, which has no modes); one that was
    there keeps its mode, as someone may have chosen it.

    Raises:
        OSError: it cannot be written.
    """
    # What cannot be written must not empty the file first.
    data = text.encode("utf-8", "replace")
    with open(path, "wb", opener=_for_the_owner) as file:
        file.write(data)


def is_readable_by_others(path: Path) -> bool:
    """Whether the file's mode lets other users of this machine read it; never on Windows.

    Raises:
        OSError: there is no such file.
    """
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
