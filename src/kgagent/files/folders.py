"""Files below folders."""

from collections.abc import Iterator
from pathlib import Path


def files_below(folder: Path) -> Iterator[Path]:
    """The files below a folder, in order, without hidden ones.

    A link may point anywhere, and what is read may be sent to a model: only files that are really
    below the folder are given.
    """
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if is_hidden or not path.is_file():
            continue
        if path.resolve().is_relative_to(folder.resolve()):
            yield path
