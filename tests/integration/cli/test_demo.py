"""The demo on the tests' Neo4j."""

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


def test_demo_as_json_finds_most_people_through_relationships_and_reloads_nothing(
    kgagent: Kgagent,
) -> None:
    assert kgagent("demo", "--json").code == 0
    done = kgagent("demo", "--json")
    assert done.code == 0
    payload = done.payload
    assert (payload["user"], len(payload["questions"])) == ("kgagent-demo", 5)
    assert payload["load"]["embedded"] == 0
    assert payload["load"]["problems"] == []
    mentors = payload["questions"][0]
    assert mentors["found_with_relationship_search"] == mentors["expected"]
    assert mentors["found_by_node_search"] == []
    totals = payload["totals"]
    assert totals["by_nodes"] < totals["with_relationships"] <= totals["expected"]


def test_demo_on_a_graph_of_another_embedder_says_what_to_do(
    kgagent: Kgagent, environment: dict[str, str]
) -> None:
    assert kgagent("init").code == 0
    done = kgagent("demo", settings=environment | {"KGAGENT_EMBEDDER": "hashing"})
    assert (done.code, done.out) == (1, "")
    assert "give the demo a graph of its own: KGAGENT_HOME=" in done.err
