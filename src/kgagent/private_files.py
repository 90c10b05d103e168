"""Writing files that hold personal or secret data."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kgagent.errors import InputError


def write_private_file(path: Path, text: str) -> None:
    """Write text as UTF-8, with "?" for unpaired surrogates.

    A new file gets mode 0600 before anything is written (except on Windows, which has no file
    modes). An existing file keeps its mode, because a user may have chosen it.

    Raises:
        OSError: the file cannot be written.
    """
    # Encode first: text that cannot be encoded must not truncate the file.
    data = text.encode("utf-8", "replace")
    with open(path, "wb", opener=_open_private) as file:
        file.write(data)


def write_output_file(path: Path, text: str) -> None:
    """Write a file whose path a user chose; see `write_private_file`.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        write_private_file(path, text)
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def replacing_output_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file whose path a user chose, in a block; it is on the disk when it gets its name.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        with _replacing_private_file(path) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(path, error) from error


def replace_private_file(path: Path, text: str) -> None:
    """Write text as UTF-8 to a new file with mode 0600, then move it to `path` atomically.

    A reader sees either the old file or the complete new one. If the write fails, the old file
    stays.

    Raises:
        OSError: the file cannot be written.
    """
    with _replacing_private_file(path) as file:
        file.write(text.encode())


def is_readable_by_others(path: Path) -> bool:
    """Whether the file's mode lets other users of this machine read it; always False on Windows.

    Raises:
        OSError: the file does not exist.
    """
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


@contextmanager
def _replacing_private_file(path: Path) -> Iterator[BinaryIO]:
    """A new file with mode 0600 that is moved to `path` when the block ends without an error."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written: {error.strerror or error}. Choose another file")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
