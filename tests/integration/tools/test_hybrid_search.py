import re

import pytest

from kgagent.answers.token_budget import estimated_tokens
from kgagent.errors import EmbeddingUnavailableError
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import remembered


@pytest.fixture(autouse=True)
async def people(tools: Toolset) -> None:
    note = {"content": "A gruff mentor", "lifetime": "year"}
    taught = {"relationship_type": "mentor", "description": "She taught Ada", "notes": [note]}
    await remembered(
        tools,
        [
            {"label": "Person", "name": "Ruth", "description": "Naval architect"},
            {"label": "Person", "name": "Ada", "description": "Likes boats"},
            {"label": "Concept", "name": "Mentorship"},
        ],
        [
            {"from": "Ruth", "to": "Ada", **taught},
            {"from": "Ada", "to": "Mentorship", "relationship_type": "studies"},
        ],
    )


async def test_nodes_and_relationships_have_ranks_and_scores(tools: Toolset) -> None:
    answer = succeeded(await tools.hybrid_search(query="mentor", threshold=0.2))
    first = answer["relationships"][0]
    assert first["triplet_text"] == "Ruth mentor Ada"
    assert {"rank", "score", "features", "similarity", "found_by", "from_entity_key", "to_entity_key"} <= first.keys()
    assert {item["name"] for item in answer["objects"]} >= {"Ruth", "Ada"}
    counted = len(answer["objects"]), len(answer["relationships"])
    assert answer["message"] == "Found {} nodes and {} relationships".format(*counted)


async def test_filters_and_limits_hold(tools: Toolset) -> None:
    answer = succeeded(
        await tools.hybrid_search(
            query="mentor", threshold=-1, node_types=["Concept"], relationship_types=["studies"], limit=1
        )
    )
    assert len(answer["objects"]) + len(answer["relationships"]) == 1
    assert answer["warnings"] == ["limit 1 reached"]
    # Nodes that only join a relationship have no line of their own.
    text = (await tools["hybrid_search"].call_text({"query": "She taught", "threshold": -1, "limit": 2})).text
    assert text.count("\n") == 2
    assert text.endswith("limit 2 reached")
    assert "Unknown label: Robot" in error_of(await tools.hybrid_search(query="x", node_types=["Robot"]))
    assert "strategy" in error_of(await tools.hybrid_search(query="x", strategy="best"))


async def test_without_a_limit_the_first_page_ends_where_weak_results_begin(tools: Toolset) -> None:
    neighbours = [f"Neighbour {number}" for number in range(20)]
    await remembered(
        tools,
        [
            {"label": "Person", "name": "Lena", "description": "Plays the cello"},
            *({"label": "Person", "name": name} for name in neighbours),
        ],
        [{"from": "Lena", "to": name, "relationship_type": f"{name} of"} for name in neighbours],
    )
    asked = {"query": "Lena plays the cello", "threshold": -1}
    everything = (await tools.hybrid_search.call_text({**asked, "limit": 32})).text.splitlines()
    first = (await tools.hybrid_search.call_text(asked)).text.splitlines()
    shown = re.fullmatch(r'(\d+) of \d+ shown; continue with cursor "(.+)"', first[-1])
    assert shown is not None
    assert 9 <= len(first) - 1 < len(everything) - 1
    assert first[:-1] == everything[: len(first) - 1]
    page = first
    while rest := re.search(r'continue with cursor "(.+)"', page[-1]):
        page = (await tools.hybrid_search.call_text({**asked, "cursor": rest[1]})).text.splitlines()
    # A page names nodes with their labels, and says by which path it found an item, if it has not done so before.
    last, warning = everything[-2:]
    assert re.sub(r" \([^)]*\)| via .*", "", page[-1]) == re.sub(r" \([^)]*\)| via .*", "", last)
    assert warning == "limit 32 reached"
    by_rank = await tools.hybrid_search.call_text({**asked, "strategy": "rrf"})
    assert "shown" not in by_rank.text.splitlines()[-1]


async def test_the_text_stays_within_its_token_budget(tools: Toolset) -> None:
    answer = succeeded(await tools.hybrid_search(query="mentor", threshold=0.2, format="text"))
    first = answer["text"].splitlines()[0]
    assert first.startswith("Ruth (Person) -[mentor]-> Ada (Person) 0.")
    assert ": She taught Ada | A gruff mentor (until" in first
    short = succeeded(await tools.hybrid_search(query="mentor", threshold=0.2, format="text", token_budget=100))
    assert estimated_tokens(short["text"]) <= 100
    assert short["text"].splitlines()[0] == first


async def test_a_failed_retriever_is_a_warning(tools: Toolset, embedder: WatchedEmbedder) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is away")
    for form in ("json", "text"):
        answer = succeeded(await tools.hybrid_search(query="mentor", format=form))
        assert answer["warnings"][0] == "Skipped semantic search of nodes: the model is away"
