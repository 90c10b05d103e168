import io

import pytest
from rich.console import Console

from kgagent.cli.progress import RichProgress


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_without_a_terminal_a_task_is_one_plain_line() -> None:
    console = Console(file=io.StringIO(), width=20)
    with RichProgress(console).task("Loading relationships of a long name", 10) as advance:
        advance(10)
    assert written(console) == "Loading relationships of a long name ...\n"


def test_a_download_counts_bytes() -> None:
    console = terminal()
    with RichProgress(console).task("Downloading a model", 24_000_000) as advance:
        advance(24_000_000)
    assert "24.0 MB of 24.0 MB" in written(console)


def test_task_of_unknown_size_ends_full_without_amount() -> None:
    console = terminal()
    with RichProgress(console).task("Starting Neo4j") as advance:
        advance(1)
    [*_, last] = [line for line in written(console).splitlines() if "Starting" in line]
    assert "✓ Starting Neo4j" in last
    assert " of " not in last


def test_failed_task_is_not_marked_as_done() -> None:
    console = terminal()

    def fail() -> None:
        with RichProgress(console).task("Starting Neo4j"):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert "✓" not in written(console)
