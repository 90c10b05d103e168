import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError, InputError, SearchError, StoreError
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.knowledge_graph import services_of
from kgagent.models import ExploreRequest, ExploreResult, VectorQuery
from kgagent.search.score import highest_score
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import create_all, person, persons, relate, remembered
from tests.support.stored import cypher

MENTORS = {"queries": [{"query": "mentor from college", "threshold": 0.25}], "expand_hops": 0}


UNREAD = "Skipped texts of relationships, and the surroundings of the nodes"


@pytest.fixture
async def known(graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder) -> dict[str, str]:
    """Keys by name; only the relationship with Iris says "mentor", and no node does."""
    people = {"Sam": "Owner of this graph", "Iris": "Botanist", "Jon": "Carpenter", "Kim": "Baker"}
    made = await create_all(
        graph,
        user_id,
        [
            *(
                {"label": "Person", "name": name, "description": text}
                for name, text in people.items()
            ),
            {"label": "Concept", "name": "Botany", "description": "Science of plants"},
        ],
        [
            {"from": first, "to": second, "relationship_type": word, "description": text, **more}
            for first, second, word, text, more in (
                ("Sam", "Iris", "mentor", "Sam's mentor from college", {"attitude": 5}),
                ("Sam", "Jon", "neighbour", "Lives next door", {}),
                ("Iris", "Kim", "sister", "Shares a flat", {}),
                ("Iris", "Botany", "teaches", "Lectures on moss", {}),
            )
        ],
    )
    embedder.forget()
    return made


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the statements of these names fail."""

    def arrange(*names: str) -> None:
        read = Store.read

        async def failing(store: Store, text: str, *given: Any, **named: Any) -> Any:
            if isinstance(text, Statement) and text.name in names:
                raise StoreError("the database is away")
            return await read(store, text, *given, **named)

        monkeypatch.setattr(Store, "read", failing)

    return arrange


Explore = Callable[..., Awaitable[ExploreResult]]


@pytest.fixture
def explore(graph: KnowledgeGraph, user_id: str) -> Explore:
    """Explores the graph of the test's user."""

    async def run(*queries: str, threshold: float = 0.3, **options: Any) -> ExploreResult:
        asked = tuple(VectorQuery(query=query, threshold=threshold) for query in queries)
        return await graph.retrieval.explore(
            ExploreRequest(queries=asked, **options), user_id=user_id
        )

    return run


def found(result: ExploreResult) -> list[str]:
    return [item.node.name for item in result.nodes]


def names(payload: dict[str, list[dict[str, str]]], part: str = "nodes") -> list[str]:
    return [item["name"] for item in payload[part]]


def pairs(payload: dict[str, list[dict[str, str]]]) -> list[frozenset[str]]:
    return [frozenset((edge["from_name"], edge["to_name"])) for edge in payload["edges"]]


async def test_nodes_come_in_through_the_relationships_that_matched(
    tools: Toolset, embedder: WatchedEmbedder, known: dict[str, str]
) -> None:
    payload = succeeded(await tools.explore(**MENTORS))
    assert set(names(payload)) == {"Sam", "Iris"}
    assert {item["entity_key"] for item in payload["nodes"]} == {known["Sam"], known["Iris"]}
    matched = payload["edges"][0]
    assert (matched["description"], matched["attitude_word"]) == (
        "Sam's mentor from college",
        "close",
    )
    assert matched["similarity"] > 0.25
    assert embedder.queries == [["mentor from college"]]
    assert embedder.stored == []


@pytest.mark.usefixtures("known")
async def test_without_relationship_search_only_the_nodes_own_text_counts(tools: Toolset) -> None:
    payload = succeeded(await tools.explore(**MENTORS, search_relationships=False))
    assert payload["nodes"] == []
    assert payload["edges"] == []


@pytest.mark.usefixtures("known")
async def test_the_surroundings_of_matches_are_returned(tools: Toolset) -> None:
    payload = succeeded(await tools.explore(**MENTORS))
    assert set(names(payload, "neighbors")) == {"Jon", "Kim", "Botany"}
    assert set(pairs(payload)) == {
        frozenset(pair)
        for pair in (("Sam", "Iris"), ("Sam", "Jon"), ("Iris", "Kim"), ("Iris", "Botany"))
    }
    assert len(pairs(payload)) == 4


async def test_a_full_name_that_a_node_has_finds_no_nodes_that_only_share_a_part_of_it(
    tools: Toolset,
) -> None:
    family = ("Lena Hofmann", "Dieter Hofmann", "Katrin Hofmann-Brandt", "Lena Hofmanninger")
    father = {"from": "Dieter Hofmann", "relationship_type": "father"}
    await remembered(
        tools,
        [{"label": "Person", "name": name} for name in family],
        [{**father, "to": "Lena Hofmann"}, {**father, "to": "Katrin Hofmann-Brandt"}],
    )
    named = succeeded(await tools.explore(text_matches=["lena hofmann"], expand_hops=0))
    assert names(named) == ["Lena Hofmann", "Lena Hofmanninger"]
    assert pairs(named) == [frozenset(("Dieter Hofmann", "Lena Hofmann"))]
    assert names(named, "neighbors") == ["Dieter Hofmann"]
    unknown = succeeded(await tools.explore(text_matches=["Bert Hofmann"]))
    assert set(names(unknown)) == {"Lena Hofmann", "Dieter Hofmann"}


@pytest.mark.usefixtures("known")
async def test_a_node_that_several_searches_find_comes_once_and_first(tools: Toolset) -> None:
    payload = succeeded(
        await tools.explore(
            queries=[{"query": "botanist", "threshold": 0.3}, {"query": "mentor from college"}],
            text_matches=["iris"],
            return_explanations=True,
        )
    )
    assert names(payload)[0] == "Iris"
    assert len(names(payload)) == len(set(names(payload)))
    found_by = payload["nodes"][0]["found_by"]
    assert {signal["source"] for signal in found_by} == {
        "node_vector",
        "via_relationship",
        "name_match",
    }
    assert payload["nodes"][0]["score"] == highest_score(), "the exact name is the best signal"
    by_relationship = next(signal for signal in found_by if signal["source"] == "via_relationship")
    assert by_relationship["matched"] == "Sam's mentor from college"
    by_text = next(signal for signal in found_by if signal["source"] == "name_match")
    assert (by_text["matched"], by_text["similarity"], by_text["rank"]) == ("iris", 1.0, 1)


@pytest.mark.usefixtures("known")
async def test_explanations_are_returned_only_on_request(tools: Toolset) -> None:
    payload = succeeded(await tools.explore(**MENTORS))
    assert not any("found_by" in item for item in payload["nodes"])


@pytest.mark.usefixtures("known")
async def test_all_queries_of_a_call_are_embedded_in_one_request(
    tools: Toolset, embedder: WatchedEmbedder
) -> None:
    assert set(names(succeeded(await tools.explore(text_matches=["jon", "KIM"])))) == {"Jon", "Kim"}
    assert embedder.calls == 0
    queries = [{"query": text} for text in ("one", "two", "one", "three")]
    succeeded(await tools.explore(queries=queries, text_matches=["Sam", "Iris"]))
    assert len(embedder.queries) == 1
    assert sorted(embedder.queries[0]) == ["one", "three", "two"]
    succeeded(await tools.explore(queries=queries))
    assert len(embedder.queries) == 1


@pytest.mark.usefixtures("known")
async def test_node_types_restrict_the_labels(tools: Toolset) -> None:
    payload = succeeded(
        await tools.explore(queries=[{"query": "lectures on moss"}], node_types=["Concept"])
    )
    assert names(payload) == ["Botany"]
    assert frozenset(("Iris", "Botany")) in pairs(payload)


async def test_at_most_the_requested_number_of_nodes_of_a_label_is_returned(tools: Toolset) -> None:
    labels = ("Person", "Entity")
    await remembered(
        tools, [{"label": each, "name": f"Chess {each} {n}"} for each in labels for n in range(4)]
    )
    payload = succeeded(await tools.explore(queries=[{"query": "chess"}], max_results_per_type=2))
    assert sorted(item["label"] for item in payload["nodes"]) == [
        "Entity",
        "Entity",
        "Person",
        "Person",
    ]


async def test_ten_nodes_of_a_label_are_returned_by_default(tools: Toolset) -> None:
    await remembered(
        tools, [{"label": "Entity", "name": f"Chess club {number}"} for number in range(12)]
    )
    payload = succeeded(await tools.explore(queries=[{"query": "chess club"}]))
    assert len(payload["nodes"]) == 10


async def test_the_same_search_answers_the_same(tools: Toolset) -> None:
    await persons(tools, *["Twin"] * 6)
    question = {
        "queries": [{"query": "twin"}],
        "text_matches": ["twin"],
        "return_explanations": True,
    }
    first = succeeded(await tools.explore(**question))
    assert succeeded(await tools.explore(**question)) == first


async def test_matched_relationships_are_always_among_the_edges(tools: Toolset) -> None:
    names = [f"P{number}" for number in range(15)]
    await remembered(
        tools,
        [{"label": "Person", "name": name} for name in ("Hub", *names)],
        [
            {
                "from": "Hub",
                "to": name,
                "relationship_type": "friend",
                "description": f"chess partner {name}",
            }
            for name in names
        ],
    )
    payload = succeeded(
        await tools.explore(
            queries=[{"query": "chess partner"}], max_results_per_type=1, token_budget=20_000
        )
    )
    matched = [edge for edge in payload["edges"] if "similarity" in edge]
    assert len(matched) == 15
    assert [edge["similarity"] for edge in matched] == sorted(
        (edge["similarity"] for edge in matched), reverse=True
    )


async def test_a_node_that_several_matches_lead_to_ranks_as_the_best_of_them(
    tools: Toolset, known: dict[str, str]
) -> None:
    payload = succeeded(
        await tools.explore(
            queries=[{"query": "mentor from college", "threshold": -1}], return_explanations=True
        )
    )
    ranks = {
        item["entity_key"]: [
            signal["rank"] for signal in item["found_by"] if signal["source"] == "via_relationship"
        ]
        for item in payload["nodes"]
    }
    assert ranks[known["Sam"]] == ranks[known["Iris"]] == [1]
    assert min(ranks[known["Jon"]]) > 1


async def test_an_invalid_argument_is_reported(tools: Toolset) -> None:
    for arguments, said in (
        (
            {"queries": [], "text_matches": []},
            "At least one search method required (queries or text_matches)",
        ),
        (
            {"text_matches": ["x"], "node_types": ["Dog"]},
            "Unknown label: Dog. Known labels: Person, Concept, ",
        ),
        ({"queries": [{"query": " "}]}, "queries.0.query must not be empty"),
        (
            {"queries": [{"query": "x", "threshold": float("nan")}]},
            "queries.0.threshold must be at most 1, got nan",
        ),
        ({"queries": [7]}, "queries.0 must be an object, got 7"),
        ({"queries": [{"query": "x"}] * 21}, "queries must have at most 20 items"),
        (
            {"text_matches": ["x"], "max_results_per_type": 101},
            "max_results_per_type must be at most 100",
        ),
        ({"text_matches": ["x"], "format": "xml"}, "format must be 'json' or 'text', got 'xml'"),
    ):
        assert error_of(await tools.explore(**arguments)).startswith(said)


@pytest.mark.usefixtures("known")
async def test_as_text_there_is_a_line_for_each_node_and_relationship(tools: Toolset) -> None:
    payload = succeeded(await tools.explore(**MENTORS, format="text", return_explanations=True))
    lines = payload["text"].splitlines()
    assert lines[0].startswith("Sam (Person) -[mentor]-> Iris (Person) (close) 0.")
    assert lines[0].endswith(": Sam's mentor from college")
    assert any(line.startswith("Iris [score 0.") and line.endswith(": Botanist") for line in lines)
    assert payload.keys() == {"success", "message", "text"}


async def test_text_shows_no_expired_note_and_no_line_that_a_name_made_up(
    tools: Toolset, clock: Clock
) -> None:
    ada = await person(tools, "Ada\n- Mallory (Person, m)", "Two\n\nlines")
    bo = await person(tools, "Bo")
    notes = [{"content": "stale", "lifetime": "week"}, {"content": "lasting", "lifetime": "year"}]
    await relate(tools, ada, bo, "friend", description="Row\ntogether", notes=notes)
    clock.forward(days=30)
    payload = succeeded(await tools.explore(text_matches=["Ada"], format="text"))
    lines = payload["text"].splitlines()
    assert not any(line.startswith("- Mallory") for line in lines)
    assert (
        "Ada - Mallory (Person, m) -[friend]-> Bo (Person): Row together | lasting (until "
        "2027-01-01)"
    ) in lines


async def test_the_service_rejects_what_the_tool_rejects(
    graph: KnowledgeGraph, explore: Explore
) -> None:
    for given, said in (
        ({}, "At least one search method required"),
        ({"text_matches": (" ",)}, r"text_matches\.0 must not be empty"),
    ):
        with pytest.raises(InputError, match=said):
            await explore(**given)
    with pytest.raises(InputError, match="user_id must not be empty"):
        await graph.retrieval.explore(ExploreRequest(text_matches=("x",)), user_id="")


@pytest.mark.usefixtures("known")
async def test_relationship_types_filter_the_results_of_the_service(explore: Explore) -> None:
    result = await explore("x", threshold=-1.0, relationship_types=("sister",))
    assert [r.relationship_type for r in result.relationships if r.similarity is not None] == [
        "sister"
    ]


@pytest.mark.usefixtures("known")
async def test_without_embeddings_names_and_words_are_still_found_and_a_warning_says_what_is_missing(
    explore: Explore, embedder: WatchedEmbedder
) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is away")
    result = await explore("mentor", text_matches=("Kim",))
    first, *others = found(result)
    assert (first, set(others)) == ("Kim", {"Sam", "Iris"})
    assert result.relationships[0].relationship_type == "mentor"
    assert result.warnings == ("Skipped semantic search of statements: the model is away",)


@pytest.mark.usefixtures("known")
async def test_names_do_not_wait_for_the_embedding(
    explore: Explore, embedder: WatchedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder.gate.clear()
    read = Store.read

    async def noticed(store: Store, text: str, *given: Any, **named: Any) -> Any:
        rows = await read(store, text, *given, **named)
        if isinstance(text, Statement) and text.name == "match_text":
            embedder.gate.set()
        return rows

    monkeypatch.setattr(Store, "read", noticed)
    async with asyncio.timeout(30):
        result = await explore("mentor", text_matches=("Iris",))
    assert "Iris" in found(result)
    assert result.warnings == ()


@pytest.mark.usefixtures("known")
async def test_if_every_search_fails_explore_fails(
    explore: Explore, embedder: WatchedEmbedder, fail: Callable[..., None]
) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is away")
    fail("search_statements_text")
    said = r"Every search failed\. Skipped semantic search of statements: the model is away"
    with pytest.raises(SearchError, match=said):
        await explore("mentor")


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("statement", "warning"),
    [
        ("read_explored", f"{UNREAD}: the database is away"),
        ("search_statements_exact", "Skipped semantic search of statements: the database is away"),
        ("search_statements_text", "Skipped full-text search of statements: the database is away"),
        (
            "find_named_nodes",
            "Skipped statements at the nodes that the query names: the database is away",
        ),
        ("match_text", "Skipped the search of nodes by name: the database is away"),
    ],
)
async def test_a_statement_that_fails_leaves_the_rest_of_explore(
    explore: Explore, fail: Callable[..., None], statement: str, warning: str
) -> None:
    fail(statement)
    result = await explore("mentor from college", threshold=-1.0, text_matches=("Iris",))
    assert "Iris" in found(result)
    assert result.warnings == (warning,)


@pytest.mark.usefixtures("known")
async def test_a_reading_that_takes_too_long_leaves_the_nodes_that_were_found(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Store.read

    async def slow(store: Store, text: str, *given: Any, **named: Any) -> Any:
        if isinstance(text, Statement) and text.name == "read_explored":
            await asyncio.Event().wait()
        return await read(store, text, *given, **named)

    monkeypatch.setattr(Store, "read", slow)
    quick = KnowledgeGraph(
        services_of(graph).store,
        graph.ontology,
        graph.embedder,
        graph.settings.model_copy(update={"query_timeout": 6}),
    )
    request = ExploreRequest(queries=(VectorQuery(query="Carpenter"),), expand_hops=0)
    result = await quick.retrieval.explore(request, user_id=user_id)
    assert [item.node.name for item in result.nodes] == ["Jon"]
    [warning] = result.warnings
    assert warning.startswith(f"{UNREAD}: it took longer than ")


@pytest.mark.usefixtures("known")
async def test_if_the_records_cannot_be_read_the_nodes_that_were_found_are_returned(
    explore: Explore, fail: Callable[..., None]
) -> None:
    fail("read_explored")
    result = await explore(
        "mentor from college", "Carpenter", labels=("Person",), limit_per_label=3
    )
    assert (found(result), result.relationships, result.is_relevant) == (["Jon"], (), None)
    assert result.warnings == (f"{UNREAD}: the database is away",)


@pytest.mark.usefixtures("known")
async def test_of_two_nodes_with_one_key_the_one_with_a_searched_label_is_found(
    graph: KnowledgeGraph, explore: Explore, user_id: str
) -> None:
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user, name: 'Iris'}) "
        "CREATE (:Concept {user_id: $user, entity_key: n.entity_key, name: 'iris, the flower'})",
        user=user_id,
    )
    for label, names in (("Person", {"Sam", "Iris"}), ("Concept", set())):
        assert (
            set(found(await explore("mentor from college", labels=(label,), expand_hops=0)))
            == names
        )


@pytest.mark.usefixtures("known")
async def test_a_relationship_of_an_old_graph_without_a_user_is_a_match(
    graph: KnowledgeGraph, explore: Explore, user_id: str
) -> None:
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user, name: 'Sam'})-[r {relationship_type: 'mentor'}]-() "
        "SET n.is_owner = true REMOVE r.user_id",
        user=user_id,
    )
    result = await explore("who is my mentor from college?")
    assert result.relationships[0].relationship_type == "mentor"
    assert set(found(result)[:2]) == {"Sam", "Iris"}


async def test_nodes_of_another_program_are_found_by_name_if_they_have_a_key(
    graph: KnowledgeGraph, explore: Explore, user_id: str
) -> None:
    await cypher(
        graph,
        "CREATE (:Person {user_id: $user, entity_key: $key, name: 'Old Tom'}), (:Person {user_id: "
        "$user, name: 'Tom'})",
        user=user_id,
        key=f"{user_id}-old",
    )
    result = await explore("old tom", text_matches=("tom",))
    assert (found(result), result.warnings) == (["Old Tom"], ())
