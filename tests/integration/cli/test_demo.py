"""The demo on the tests' Neo4j."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Kgagent
from tests.support.turns import locked


@pytest.fixture(autouse=True)
def _one_demo_at_a_time(run_folder: Path) -> Iterator[None]:
    """All demos of a database work on the same user's graph."""
    with locked(run_folder / "demo.lock"):
        yield


def test_demo_shows_what_relationship_search_adds(
    kgagent: Kgagent, environment: dict[str, str]
) -> None:
    done = kgagent("demo", settings=environment | {"COLUMNS": "80"})
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert "\x1b" not in done.out
    assert "✓ Ruth Adeyemi" in done.out
    assert "who are my mentors?" in done.out
    assert "Expected people found" in done.out
    assert "kgagent load FILE.jsonl" in done.out


def test_demo_finds_more_people_through_relationships_and_reloads_nothing(kgagent: Kgagent) -> None:
    assert kgagent("demo").code == 0
    shown = " ".join(kgagent("demo").out.split())
    assert "already loaded, checked" in shown
    found = re.search(r"node search alone (\d+) of (\d+), with relationship search (\d+) of", shown)
    assert found is not None
    by_nodes, expected, with_relationships = map(int, found.groups())
    assert by_nodes < with_relationships <= expected


def test_demo_on_a_graph_of_another_embedder_says_what_to_do(
    kgagent: Kgagent, environment: dict[str, str]
) -> None:
    assert kgagent("init").code == 0
    done = kgagent("demo", settings=environment | {"KGAGENT_EMBEDDER": "hashing"})
    assert (done.code, done.out) == (1, "")
    assert "give the demo a graph of its own: KGAGENT_HOME=" in done.err
