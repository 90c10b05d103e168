"""The page that compares five toolkits says what was measured, losses included."""

import re
from pathlib import Path
from typing import Any

import pytest
from side.data import as_facts, comparable
from side.figures import asked, best, losses, not_worse
from side.measure import recall


def answer(seconds: float, found: float | None, nodes: float | None = 0.5) -> dict[str, Any]:
    return {"seconds": seconds, "relationships": found, "nodes": nodes, "rows": 10, "foreign": 0}


def toolkit(seconds: float, found: float, *, update: str = "changed") -> dict[str, Any]:
    sets = ("2wiki", "metaqa, 1 hops", "metaqa, 2 hops", "metaqa, 3 hops", "users")
    changed = update == "changed"
    one = {"stored": changed, "embedding": changed, "found": changed, "stale": not changed}
    return {
        "versions": {"package": "1.0", "neo4j": "6.4.1"},
        "inserts": [seconds, seconds],
        "nodes_stored": [4],
        "nodes_expected": [4],
        "bulk": {name: [1 / seconds, 3 / seconds, 2 / seconds] for name in sets},
        "updates": None if update == "impossible" else [seconds],
        "updated": [] if update == "impossible" else [one],
        "answers": {
            name: {"search": [answer(seconds, found), answer(seconds, found)]} for name in sets
        },
    }


@pytest.fixture
def figures() -> dict[str, Any]:
    """kgagent finds most; `fast` is faster and cannot update; `stale` is fastest at updating, which
    changes nothing.
    """
    sets = ("2wiki", "metaqa, 1 hops", "metaqa, 2 hops", "metaqa, 3 hops", "users")
    return {
        "embedder": "known",
        "neo4j": "2026.08.1",
        "rounds": 3,
        "users": 5,
        "cores": 2,
        "load_before": 4.0,
        "load_after": 5.0,
        "sets": {name: {"facts": 100, "questions": 2} for name in sets},
        "toolkits": {
            "kgagent": toolkit(0.040, 0.9),
            "fast": toolkit(0.010, 0.7, update="impossible"),
            "stale": toolkit(0.020, 0.8, update="nothing"),
        },
    }


def test_recall_counts_the_first_ten_distinct_results() -> None:
    assert recall(frozenset("ab"), ["a", "a", "c"]) == 0.5
    assert recall(frozenset("z"), [*"aabbccddeeff", *"ghij", "z"]) == 0
    assert recall(frozenset(range(20)), list(range(10))) == 1


def test_losses_name_who_does_better_and_by_how_much(figures: dict[str, Any]) -> None:
    lost = {one.what: one for one in losses(figures)}
    assert lost["2Wiki, p50 of a search"].ours == "40 ms"
    assert lost["2Wiki, p50 of a search"].others == ["fast 10 ms (0.25x)", "stale 20 ms (0.50x)"]
    assert lost["loading 2Wiki"].others == ["fast 200/s (4.0x)", "stale 100/s (2.0x)"]
    assert "2Wiki, recall@10 of relationships" not in lost
    assert "2Wiki, recall@10 of relationships" in not_worse(figures)


def test_the_best_search_of_another_toolkit_is_compared_but_the_default_one_of_kgagent(
    figures: dict[str, Any],
) -> None:
    figures["toolkits"]["kgagent"]["answers"]["2wiki"]["told"] = [answer(0.001, 1.0)]
    figures["toolkits"]["fast"]["answers"]["2wiki"] |= {
        "nodes only": [answer(0.001, None)],
        "told": [answer(0.030, 0.8)],
    }
    chosen = {row.toolkit: row.search for row in best(asked(figures, "2wiki"))}
    assert chosen == {"kgagent": "search", "fast": "told", "stale": "search"}


def test_facts_have_one_relationship_for_each_pair_and_one_spelling_for_each_name() -> None:
    facts = as_facts(
        [("Ann", "mother", " Bob"), ("bob", "friend", "Ann"), ("Ann", "self", "ann")], "me"
    )
    assert [(fact.source, fact.target, fact.relation) for fact in facts] == [
        ("Ann", "Bob", "mother, friend")
    ]
    assert comparable('Ann "A" Lee ') == "ann  a  lee"


def test_the_page_shows_every_loss_and_what_is_impossible(figures: dict[str, Any]) -> None:
    from side.page import as_markdown

    page = as_markdown(figures, apoc="5", wanted=10, most_gold=12)
    for one in losses(figures):
        assert f"- **{one.what}**: kgagent {one.ours}; {', '.join(one.others)}" in page
    assert "| fast | - | - | - | - | - | - |" in page
    assert "| stale | 20 (0.50x) | 20 | 0 of 1 | 0 of 1 | 0 of 1 | 1 of 1 |" in page
    assert "load average 4.0" in page


def test_the_pictures_of_the_page_exist_for_both_themes(repository_root: Path) -> None:
    docs = repository_root / "docs"
    page = (docs / "benchmarks.md").read_text("utf-8")
    dark, light = (re.findall(rf'{name}="(images/[^"]+)"', page) for name in ("srcset", "src"))
    assert len(light) == len(dark) == 3
    assert [name.replace("light", "dark") for name in light] == dark
    assert all((docs / name).is_file() for name in (*light, *dark))
    assert all(len(text) > 100 for text in re.findall(r'alt="([^"]+)"', page))
