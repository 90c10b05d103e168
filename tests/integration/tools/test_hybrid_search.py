import pytest

from kgagent.answers.found import FIRST_PAGE_TOKENS
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
    assert sum(first["contributions"].values()) == pytest.approx(first["score"], abs=1e-4)
    assert {"rank", "similarity", "found_by", "from_entity_key", "to_entity_key"} <= first.keys()
    assert {item["name"] for item in answer["objects"]} >= {"Ruth", "Ada"}
    counted = len(answer["objects"]), len(answer["relationships"])
    assert answer["message"] == "Found {} nodes and {} relationships".format(*counted)


async def test_filters_and_limits_hold(tools: Toolset) -> None:
    answer = succeeded(
        await tools.hybrid_search(
            query="mentor",
            threshold=-1,
            node_types=["Concept"],
            relationship_types=["studies"],
            limit=1,
        )
    )
    assert len(answer["objects"]) + len(answer["relationships"]) == 1
    assert answer["warnings"] == ["limit 1 reached"]
    every = await tools.hybrid_search(query="She taught", threshold=-1, limit=3)
    assert len(every["objects"]) + len(every["relationships"]) == 3
    # Nodes that only join a relationship have no line of their own.
    text = (
        await tools["hybrid_search"].call_text({"query": "She taught", "threshold": -1, "limit": 2})
    ).text
    assert text.count("\n") == 2
    assert text.endswith("limit 2 reached")
    assert "Unknown label: Robot" in error_of(
        await tools.hybrid_search(query="x", node_types=["Robot"])
    )
    assert "strategy" in error_of(await tools.hybrid_search(query="x", strategy="best"))


async def test_options_of_the_host_program_are_unknown_to_the_tool(tools: Toolset) -> None:
    answer = await tools.hybrid_search(query="mentor", timeout=5, object_limit=3)
    assert (
        error_of(answer)
        == "unknown argument object_limit: did you mean limit?; unknown argument timeout"
    )
    properties = tools["hybrid_search"].arguments.model_json_schema()["properties"]
    assert not properties.keys() & {"timeout", "object_limit"}


async def test_without_a_limit_the_first_page_ends_where_weak_results_begin(tools: Toolset) -> None:
    players, neighbours = (
        [f"{role} {number}" for number in range(8)] for role in ("Player", "Neighbour")
    )
    await remembered(
        tools,
        [
            *(
                {"label": "Person", "name": name, "description": "Plays the cello"}
                for name in players
            ),
            *({"label": "Person", "name": name} for name in ("Lena", *neighbours)),
        ],
        [{"from": "Lena", "to": name, "relationship_type": f"{name} of"} for name in neighbours],
    )
    asked = {"query": "who plays the cello?", "threshold": -1}
    page = await tools.hybrid_search.call_text(asked)
    *lines, last = page.text.splitlines()
    assert {line.partition(" (")[0] for line in lines} == set(players)
    assert last.startswith(f"{len(players)} of ")
    while cursor := page.payload.get("next_cursor"):
        assert f'continue with cursor "{cursor}"' in page.text
        page = await tools.hybrid_search.call_text({**asked, "cursor": cursor})
        lines += [line for line in page.text.splitlines() if " shown; " not in line]
    everything = (await tools.hybrid_search.call_text({**asked, "limit": 40})).text.splitlines()
    assert len(everything) > len(players)
    # Each page names the labels of its nodes.
    assert "\n".join(lines).replace(" (Person)", "") == "\n".join(everything).replace(
        " (Person)", ""
    )


async def test_a_first_page_is_short_unless_a_budget_is_given(tools: Toolset) -> None:
    people = [
        {
            "label": "Person",
            "name": f"Player {number}",
            "description": f"Plays the cello in hall {number}. " * 15,
        }
        for number in range(12)
    ]
    await remembered(tools, people)
    asked = {"query": "who plays the cello?"}
    first = await tools.hybrid_search.call_text(asked)
    assert estimated_tokens(first.text) <= FIRST_PAGE_TOKENS
    longer = await tools.hybrid_search.call_text({**asked, "token_budget": 2_000})
    next_page = await tools.hybrid_search.call_text(
        {**asked, "cursor": first.payload["next_cursor"]}
    )
    assert all(
        FIRST_PAGE_TOKENS < estimated_tokens(page.text) <= 2_000 for page in (longer, next_page)
    )


async def test_the_text_stays_within_its_token_budget(tools: Toolset) -> None:
    answer = succeeded(await tools.hybrid_search(query="mentor", threshold=0.2, format="text"))
    first = answer["text"].splitlines()[0]
    assert first.startswith("Ruth (Person) -[mentor]-> Ada (Person) 0.")
    assert ": A gruff mentor (until 20" in first
    assert first.endswith(") | She taught Ada")
    short = succeeded(
        await tools.hybrid_search(query="mentor", threshold=0.2, format="text", token_budget=100)
    )
    assert estimated_tokens(short["text"]) <= 100
    assert short["text"].splitlines()[0] == first


async def test_a_failed_retriever_is_a_warning(tools: Toolset, embedder: WatchedEmbedder) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is away")
    for form in ("json", "text"):
        answer = succeeded(await tools.hybrid_search(query="mentor", format=form))
        assert answer["warnings"][0] == "Skipped semantic search of statements: the model is away"
