"""Hybrid search: nodes and relationships, by meaning and by words, in one answer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.answers.found import llm_context
from kgagent.embedding.hashing import hash_embedding
from kgagent.errors import EmbeddingUnavailableError, InputError, SearchError, StoreError
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.models.hybrid import (
    RETRIEVER_DESCRIPTIONS,
    HybridSearchRequest,
    HybridSearchResult,
    RetrieverName,
)
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.crowd import plant_people, plant_relationships
from tests.support.embedders import WatchedEmbedder
from tests.support.people import create_all, node, person, relate, remembered
from tests.support.stored import cosine, cypher, indexed_statements


@pytest.fixture
async def people(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """Ruth mentors Ada, who plays chess with Bo; nothing on Ruth herself says so."""
    keys = await create_all(
        graph,
        user_id,
        [
            {"label": "Person", "name": "Ruth Calder", "description": "Naval architect"},
            {"label": "Person", "name": "Ada", "description": "Likes boats"},
            {"label": "Person", "name": "Bo", "description": "Plays chess"},
            {"label": "Concept", "name": "Chess", "description": "A board game"},
        ],
        [
            {
                "from": "Ruth Calder",
                "to": "Ada",
                "relationship_type": "mentor",
                "description": "She taught Ada to lead",
                "attitude": 5,
            },
            {
                "from": "Ada",
                "to": "Bo",
                "relationship_type": "chess partner",
                "description": "They play on Sundays",
            },
        ],
    )
    return {name.split()[0].lower(): key for name, key in keys.items()}


Search = Callable[..., Awaitable[HybridSearchResult]]


@pytest.fixture
def search(graph: KnowledgeGraph, user_id: str) -> Search:
    """A search of the test's user, which finds everything unless it has a threshold."""

    async def run(
        query: str | None = None,
        *,
        vector: Sequence[float] | None = None,
        cross_encoder: Any = None,
        **options: object,
    ) -> HybridSearchResult:
        asked = HybridSearchRequest.model_validate({"query": query, "threshold": -1.0, **options})
        return await graph.retrieval.hybrid_search(
            asked, user_id=user_id, vector=vector, cross_encoder=cross_encoder
        )

    return run


def named(result: HybridSearchResult) -> list[str]:
    return [item.name for item in result.objects]


def triplets(result: HybridSearchResult) -> list[str]:
    assert result.relationships is not None
    return [item.triplet_text for item in result.relationships]


@pytest.mark.usefixtures("people")
async def test_nodes_and_relationships_come_in_one_ranking(
    searched: KnowledgeGraph, user_id: str
) -> None:
    result = await searched.retrieval.hybrid_search(
        HybridSearchRequest(query="mentor who taught to lead"), user_id=user_id
    )
    assert triplets(result)[0] == "Ruth Calder mentor Ada"
    assert {"Ruth Calder", "Ada"} <= set(named(result))
    assert [item.rank for item in result.items] == list(range(1, len(result.items) + 1))
    assert [item.score for item in result.items] == sorted(
        (item.score for item in result.items), reverse=True
    )


async def test_a_relationship_has_its_ends_its_best_statement_and_its_retrievers(
    graph: KnowledgeGraph, search: Search, user_id: str, people: dict[str, str]
) -> None:
    result = await search("mentor")
    first = next(item for item in result.relationships or () if item.relationship_type == "mentor")
    assert (first.from_entity_key, first.to_entity_key) == (people["ruth"], people["ada"])
    assert (first.from_name, first.to_name, first.type) == ("Ruth Calder", "Ada", "relationship")
    assert first.found_by == ("statement_vector", "statement_fulltext")
    [stored] = [
        one
        for one in await indexed_statements(graph, user_id)
        if one["text"] == "She taught Ada to lead"
    ]
    assert first.similarity == pytest.approx(
        cosine(hash_embedding("mentor", 384), stored["embedding"]), abs=1e-5
    )
    [description] = first.statements
    assert (description.note, description.similarity) == (None, first.similarity)
    assert (description.score, description.contributions) == (first.score, first.contributions)


async def test_the_contributions_of_the_features_add_up_to_the_score_that_sorts(
    search: Search, tools: Toolset
) -> None:
    notes = ["She taught him to sail", "They dined in Rome", "Sailed to Crete"]
    nodes = [{"label": "Person", "name": name, "notes": notes[2:]} for name in ("Ruth", "Max")]
    await remembered(
        tools,
        nodes,
        [{"from": "Ruth", "to": "Max", "relationship_type": "mentor", "notes": notes[:2]}],
    )
    result = await search("which mentor taught Max to sail?")
    [mentor] = result.relationships or ()
    assert [one.note.content for one in mentor.statements if one.note] == notes[:2]
    assert mentor.contributions.keys() == {"similarity", "words", "named", "types"}
    for item in result.items:
        assert sum(item.contributions.values()) == pytest.approx(item.score)
        scores = [one.score for one in item.statements]
        assert scores == sorted(scores, reverse=True)
        for one in item.statements:
            assert sum(one.contributions.values()) == pytest.approx(one.score)


async def test_an_item_of_two_rankings_has_the_sum_of_both(
    search: Search, people: dict[str, str]
) -> None:
    best = (await search("chess board game", search_relationships=False, strategy="rrf")).objects[0]
    assert (best.entity_key, best.found_by) == (people["chess"], ("node_vector", "node_fulltext"))
    assert best.score == pytest.approx(2 / 61)


@pytest.mark.usefixtures("people")
async def test_without_relationships_the_answer_has_none(search: Search) -> None:
    result = await search("mentor chess", search_relationships=False)
    assert result.relationships is None
    assert "relationships" not in result.to_dict()
    assert {finder for item in result.objects for finder in item.found_by} == {
        "statement_vector",
        "statement_fulltext",
        "named_node",
    }


@pytest.mark.alone
@pytest.mark.usefixtures("people")
async def test_one_search_is_one_embedding_call_and_none_with_a_vector(
    search: Search, embedder: WatchedEmbedder
) -> None:
    embedder.forget()
    with_text = await search("mentor chess")
    assert embedder.queries == [["mentor chess"]]
    embedder.forget()
    assert await search("mentor chess", vector=hash_embedding("mentor chess", 384)) == with_text
    assert embedder.calls == 0


@pytest.mark.usefixtures("people")
async def test_a_vector_without_a_query_searches_without_full_text(search: Search) -> None:
    result = await search(vector=hash_embedding("mentor", 384))
    finders = {finder for item in result.items for finder in item.found_by}
    assert finders == {"statement_vector", "via_relationship"}


@pytest.mark.usefixtures("people")
async def test_a_vector_is_used_as_it_is(search: Search) -> None:
    result = await search(
        "nothing of this is stored", threshold=0.2, vector=hash_embedding("mentor", 384)
    )
    assert triplets(result)[0] == "Ruth Calder mentor Ada"


@pytest.mark.usefixtures("people")
async def test_weights_decide_what_comes_first(search: Search) -> None:
    for weights, first in (
        ({"node_vector": 1.0, "relationship": 0.0}, "object"),
        ({"node_vector": 0.0, "relationship_vector": 1.0}, "relationship"),
    ):
        assert (await search("chess", strategy="weighted", weights=weights)).items[0].type == first


async def test_relationships_are_limited_before_they_are_fused(
    graph: KnowledgeGraph, search: Search, user_id: str
) -> None:
    people = await plant_people(graph, user_id, 120)
    mentor = {"description": "mentor", "relationship_type": "mentor"}
    rows = [{"first": people[0], "second": other, "properties": mentor} for other in people[1:]]
    await plant_relationships(graph, user_id, rows)
    every = {"limit": 100, "object_limit": 1}
    assert len(triplets(await search("mentor", **every))) == 50
    assert len(triplets(await search("mentor", **every, relationship_limit=3))) == 3
    assert len((await search("mentor", threshold=0.3)).items) == 32


@pytest.mark.usefixtures("people")
async def test_filters_restrict_labels_and_relationship_types(search: Search) -> None:
    result = await search("chess mentor", labels=("Person",), relationship_types=("chess partner",))
    assert sorted(named(result)) == ["Ada", "Bo", "Ruth Calder"]
    assert triplets(result) == ["Ada chess partner Bo"]


async def test_a_relationship_without_a_vector_is_found_by_its_words(
    graph: KnowledgeGraph, search: Search, user_id: str
) -> None:
    first, second = await plant_people(graph, user_id, 2)
    properties = {"description": "taught by a mentor", "relationship_type": "mentor"}
    await plant_relationships(
        graph, user_id, [{"first": first, "second": second, "properties": properties}]
    )
    [found] = (await search("mentor")).relationships or ()
    assert (found.found_by, found.similarity) == (("relationship_fulltext",), None)


async def test_words_that_match_far_less_than_the_best_do_not_count(
    search: Search, tools: Toolset
) -> None:
    await node(tools, "Concept", "Chess club night", "chess club night")
    await person(
        tools,
        "Bo",
        "Among a great many other things of no concern here, has been in one club or another",
    )
    by_words: dict[str, Any] = {"threshold": 1.0, "search_relationships": False, "strategy": "rrf"}
    assert named(await search("chess club night", **by_words)) == ["Chess club night"]
    assert named(await search("chess club night", **by_words, text_threshold=0.0)) == [
        "Chess club night",
        "Bo",
    ]


async def test_expansion_reaches_adjacent_relationships_and_returns_the_path(
    search: Search, tools: Toolset, people: dict[str, str]
) -> None:
    await relate(tools, people["bo"], await person(tools, "Cy"), "cousin", description="zzz")
    result = await search(threshold=0.2, expand_hops=2, vector=hash_embedding("mentor", 384))
    reached = {item.triplet_text: item for item in result.relationships or ()}["Bo cousin Cy"]
    assert reached.path == ("Ruth Calder mentor Ada", "Ada chess partner Bo")
    assert reached.similarity != reached.score


async def test_an_empty_graph_answers_nothing_and_warns_of_nothing(search: Search) -> None:
    result = await search("mentor")
    assert result.to_dict() == {
        "objects": [],
        "relationships": [],
        "is_relevant": False,
        "relevance": 0.0,
    }


async def test_if_only_nodes_match_a_warning_says_so(search: Search, tools: Toolset) -> None:
    await person(tools, "Ruth", "mentor")
    result = await search("mentor", threshold=0.3)
    assert (named(result), result.relationships) == (["Ruth"], ())
    assert result.warnings == ("No relationship matched; the results are nodes",)


@pytest.mark.usefixtures("people")
async def test_if_only_relationships_match_a_warning_says_so(search: Search) -> None:
    result = await search("sundays", threshold=0.3, expand_hops=0)
    assert triplets(result) == ["Ada chess partner Bo"]
    assert set(named(result)) == {"Ada", "Bo"}
    assert [w.split(";")[0] for w in result.warnings] == ["No node matched by itself"]


@pytest.mark.usefixtures("people")
async def test_without_embeddings_the_words_are_still_found(
    search: Search, embedder: WatchedEmbedder
) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is away")
    result = await search("mentor chess", threshold=0.3, text_threshold=0.0)
    assert "Ruth Calder mentor Ada" in triplets(result)
    assert "Chess" in named(result)
    assert result.warnings == ("Skipped semantic search of statements: the model is away",)
    embedder.failure = RuntimeError("boom")
    result = await search("mentor", threshold=0.3, mmr_lambda=0.3)
    assert triplets(result) == ["Ruth Calder mentor Ada"]
    assert result.warnings[0].startswith("Skipped semantic search of statements: internal error")
    assert "boom" not in str(result.warnings)


@pytest.mark.usefixtures("people")
async def test_a_retriever_that_takes_too_long_is_skipped(
    search: Search, embedder: WatchedEmbedder
) -> None:
    # The server plans each statement on its first run, which may take longer than the limit.
    await search("chess")
    embedder.gate.clear()
    result = await search("mentor", threshold=0.3, timeout=0.5)
    assert triplets(result) == ["Ruth Calder mentor Ada"]
    assert result.warnings[0] == "Skipped semantic search of statements: it took longer than 0.5 s"
    embedder.gate.set()
    again = await search("mentor", threshold=0.3)
    assert not any(warning.startswith("Skipped") for warning in again.warnings)


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the database refuse the statements of some names."""

    def break_at(*names: str) -> None:
        read = Store.read

        async def refuse(store: Store, text: str, *args: Any, **kwargs: Any) -> Any:
            if isinstance(text, Statement) and text.name in names:
                raise StoreError("the index is gone")
            return await read(store, text, *args, **kwargs)

        monkeypatch.setattr(Store, "read", refuse)

    return break_at


OF_STATEMENTS = {
    "statement_vector": "search_statements_exact",
    "statement_fulltext": "search_statements_text",
    "named_node": "find_named_nodes",
}
OF_RECORDS = {
    "node_vector": "search_nodes_exact",
    "node_fulltext": "search_nodes_text",
    "relationship_vector": "search_relationships_exact",
    "relationship_fulltext": "search_relationships_text",
}
"""The statement that each retriever sends, by the strategies that run it: the default, and those of
the documents.
"""


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("strategy", "finders", "finder"),
    [
        ("calibrated", OF_STATEMENTS, "statement_vector"),
        ("calibrated", OF_STATEMENTS, "statement_fulltext"),
        ("calibrated", OF_STATEMENTS, "named_node"),
        ("rrf", OF_RECORDS, "node_fulltext"),
        ("rrf", OF_RECORDS, "relationship_vector"),
    ],
)
async def test_a_retriever_that_fails_leaves_the_others(
    search: Search,
    breaking: Callable[..., None],
    strategy: str,
    finders: dict[str, str],
    finder: RetrieverName,
) -> None:
    breaking(finders[finder])
    result = await search("which mentor of Ada, and chess?", strategy=strategy)
    found_by = {found for item in result.items for found in item.found_by}
    assert found_by - {"via_relationship"} == finders.keys() - {finder}
    assert result.warnings == (f"Skipped {RETRIEVER_DESCRIPTIONS[finder]}: the index is gone",)


@pytest.mark.usefixtures("people")
async def test_all_relationship_retrievers_may_fail(
    search: Search, breaking: Callable[..., None]
) -> None:
    breaking(OF_RECORDS["relationship_fulltext"], OF_RECORDS["relationship_vector"])
    result = await search("mentor chess", strategy="rrf")
    assert named(result)
    assert result.relationships == ()
    assert len(result.warnings) == 2


@pytest.mark.usefixtures("people")
async def test_if_every_retriever_fails_the_search_fails(
    search: Search, breaking: Callable[..., None]
) -> None:
    names_alone_find_nothing = (
        OF_STATEMENTS[name] for name in ("statement_vector", "statement_fulltext")
    )
    breaking(*names_alone_find_nothing, *OF_RECORDS.values())
    for strategy, what in (("calibrated", "statements"), ("rrf", "nodes")):
        said = rf"Every search failed\. Skipped semantic search of {what}: the index is gone"
        with pytest.raises(SearchError, match=said):
            await search("mentor chess", strategy=strategy)


async def test_invalid_requests_are_rejected(graph: KnowledgeGraph, search: Search) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "give a query that is not empty, a vector, or both"),
        ({"query": "  "}, "empty"),
        ({"query": "mentor", "vector": [0.1, 0.2]}, "384 dimensions, got 2"),
        ({"query": "mentor", "vector": [0.0] * 384}, "not all zero"),
        ({"query": "mentor", "labels": ("Robot",)}, "Robot"),
    ]
    for given, said in cases:
        with pytest.raises(InputError, match=said):
            await search(**given)
    with pytest.raises(InputError, match="user_id must not be empty"):
        await graph.retrieval.hybrid_search(HybridSearchRequest(query="mentor"), user_id="")


@pytest.mark.usefixtures("people")
async def test_a_query_of_any_length_is_searched_for(
    search: Search, embedder: WatchedEmbedder
) -> None:
    embedder.forget()
    result = await search("mentor " + "many words " * 1_800, threshold=0.3)
    assert "Ruth Calder mentor Ada" in triplets(result)
    assert [len(text) for [text] in embedder.queries] == [8_000]


@pytest.mark.usefixtures("people")
async def test_the_context_for_a_model_has_nodes_and_relationships_within_its_budget(
    search: Search,
) -> None:
    result = await search("mentor")
    lines = llm_context(result).splitlines()
    assert any(" -[mentor]-> Ada" in line for line in lines)
    assert (
        sum(line.startswith("Ruth Calder") and line.endswith(": Naval architect") for line in lines)
        == 1
    )
    *short, footer = llm_context(result, 44).splitlines()
    assert short == lines[: len(short)]
    assert footer == f"{len(short)} of {len(result.items)} statements shown"
    assert llm_context(result, 0) == ""


async def test_concurrent_searches_do_not_mix(
    graph: KnowledgeGraph, user_id: str, people: dict[str, str]
) -> None:
    other = f"{user_id}-other"
    await person(graph.tools(user_id=other), "Zed", "mentor chess")
    asked = HybridSearchRequest(query="mentor chess", threshold=-1.0)
    results = await asyncio.gather(
        *(graph.retrieval.hybrid_search(asked, user_id=user) for user in [user_id, other] * 8)
    )
    assert {item.entity_key for result in results[::2] for item in result.objects} == set(
        people.values()
    )
    assert [named(result) for result in results[1::2]] == [["Zed"]] * 8


@pytest.mark.usefixtures("people")
async def test_no_embedding_leaves_a_search(
    graph: KnowledgeGraph, search: Search, user_id: str
) -> None:
    await cypher(
        graph,
        "MATCH (n:Person|Concept {user_id: $user}) SET n.other_embedding = [0.1, 0.2, 0.3]",
        user=user_id,
    )
    assert "embedding" not in str((await search("mentor chess")).to_dict())


class Preferring:
    """A cross-encoder that counts how often a word stands in a text."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.texts: list[str] = []

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        assert query
        self.texts = list(texts)
        return [float(text.lower().count(self.word)) for text in texts]


@pytest.mark.usefixtures("people")
async def test_a_cross_encoder_has_the_last_word(search: Search) -> None:
    class Plain:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            assert query
            return [float("Sundays" in text) for text in texts]

    reader = Preferring("sundays")
    results = [
        await search("mentor", cross_encoder=Plain()),
        await search("mentor", cross_encoder=reader, mmr_lambda=1.0),
        await search("mentor", cross_encoder=reader),
    ]
    assert [result.items[0].description for result in results] == ["They play on Sundays"] * 3
    assert results[-1].items[0].score == 1.0
    assert any(
        text.startswith("Relationship: Ruth Calder mentor Ada She taught Ada to lead")
        for text in reader.texts
    )
    with pytest.raises(InputError, match="must have a method score"):
        await search("mentor", cross_encoder=len)


@pytest.mark.usefixtures("people")
async def test_a_cross_encoder_that_fails_leaves_the_order(search: Search) -> None:
    class Short:
        async def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float(len(query) + len(texts))]

    result, plain = await search("mentor", cross_encoder=Short()), await search("mentor")
    ranked = [
        [(item.rank, item.score, item.description) for item in one.items] for one in (result, plain)
    ]
    assert ranked[0] == ranked[1]
    assert result.warnings[0].startswith("Skipped the cross-encoder: The cross-encoder was given")


async def test_retention_classes_drop_below_and_access_counts_are_options(
    graph: KnowledgeGraph, search: Search, tools: Toolset, user_id: str, clock: Clock
) -> None:
    await node(tools, "Concept", "Old chess", "chess chess chess")
    clock.forward(days=300)
    await node(tools, "Concept", "New chess", "chess and checkers")
    await cypher(
        graph,
        "MATCH (n:Person|Concept {user_id: $user, name: 'New chess'}) SET n.access_count = 0",
        user=user_id,
    )

    async def aged(half_life: object, **options: object) -> HybridSearchResult:
        # By vector alone: how rare a word is in the full-text index depends on the records of all
        # users.
        fixed = {
            "vector": hash_embedding("chess", 384),
            "search_relationships": False,
            "now": clock(),
        }
        return await search(text_threshold=0.0, half_life_days=half_life, **fixed, **options)

    assert named(await aged("permanent")) == ["Old chess", "New chess"]
    assert named(await aged("standard")) == ["New chess", "Old chess"]
    assert named(await aged(30.0, limit=1)) == ["New chess"]
    assert named(await aged("session", drop_below=0.001)) == ["New chess"]
    [whole, *_] = (await aged("standard")).objects
    [halved] = (await aged("session", drop_below=0.001, use_access_counts=True)).objects
    assert halved.score == pytest.approx(whole.score / 2)


async def test_relationships_of_both_retrievers_together_keep_to_the_limit(
    search: Search, tools: Toolset
) -> None:
    names = ("Ada", "Bo", "P0", "P1", "P2", "P3")
    ties = [
        {
            "from": "Ada",
            "to": name,
            "relationship_type": "mentor",
            "description": f"taught lesson {name}",
        }
        for name in names[2:]
    ]
    rival = {"from": "Ada", "to": "Bo", "relationship_type": "rival", "description": "chess"}
    await remembered(tools, [{"label": "Person", "name": name} for name in names], [*ties, rival])
    assert (
        len(triplets(await search("mentor chess", relationship_limit=2, text_threshold=0.0))) == 2
    )


async def test_duplicates_rank_below_different_items(search: Search, tools: Toolset) -> None:
    texts = dict.fromkeys(("chess club", "Chess Club again", "chess clubs"), "chess club")
    texts["Sailing"] = "club of sailors"
    await remembered(
        tools,
        [{"label": "Concept", "name": name, "description": text} for name, text in texts.items()],
    )
    assert "Sailing" not in named(await search("chess club", limit=2, search_relationships=False))
    result = await search("chess club", limit=2, search_relationships=False, mmr_lambda=0.3)
    assert named(result)[1] == "Sailing"
    assert [item.rank for item in result.items] == [1, 2]


async def test_a_relationship_ranks_before_nodes_found_only_through_it(
    search: Search, tools: Toolset
) -> None:
    friends = [f"Friend {number}" for number in range(25)]
    nodes = [
        {"label": "Person", "name": name, "description": "Likes boats"}
        for name in ("Max", *friends)
    ]
    tie = {"from": "Max", "relationship_type": "friend", "description": "zzz"}
    mentor = {
        "from": "June",
        "to": "Max",
        "relationship_type": "mentor",
        "description": "She taught me to lead",
    }
    june = {"label": "Person", "name": "June", "description": "Keeps bees"}
    await remembered(tools, [*nodes, june], [*({**tie, "to": name} for name in friends), mentor])
    result = await search("who taught mentors", limit=100)
    places = {
        getattr(item, "name", None) or getattr(item, "triplet_text", ""): item.rank
        for item in result.items
    }
    assert places["June mentor Max"] <= 2
    assert places["June"] > places["June mentor Max"]


async def test_duplicate_relationships_between_two_nodes_are_separate_results(
    graph: KnowledgeGraph, search: Search, user_id: str
) -> None:
    first, second = await plant_people(graph, user_id, 2)
    rows = [
        {
            "first": first,
            "second": second,
            "properties": {"description": text, "relationship_type": text},
        }
        for text in ("mentor in chess", "neighbour")
    ]
    await plant_relationships(graph, user_id, rows)
    assert ((await search("mentor in chess")).relationships or ())[
        0
    ].description == "mentor in chess"


async def test_a_relationship_at_a_node_without_a_key_hides_no_other(
    graph: KnowledgeGraph,
    user_id: str,
    people: dict[str, str],
    searching: Callable[[str], KnowledgeGraph],
    plan: str,
) -> None:
    await cypher(
        graph,
        "MATCH (a:Person {entity_key: $key}) MATCH (r)-[known:has_relationship_with]->() WHERE "
        "r.entity_key = $key "
        "CREATE (a)-[twin:has_relationship_with]->(b:Person {user_id: $user, name: 'Nobody'}) "
        "SET twin = known {.*, relationship_key: null}",
        key=people["ruth"],
        user=user_id,
    )
    retrieval = searching(plan).retrieval
    asked = HybridSearchRequest(query="mentor who taught to lead", threshold=-1.0)
    result = await retrieval.hybrid_search(asked, user_id=user_id)
    assert result.warnings == ()
    assert triplets(result)[0] == "Ruth Calder mentor Ada"
    matches = await retrieval.relationship_vector_search("mentor", -1.0, user_id=user_id)
    assert {match.triplet for match in matches} == {
        "Ruth Calder mentor Ada",
        "Ada chess partner Bo",
    }


@pytest.mark.usefixtures("people")
async def test_a_query_without_words_is_no_error(search: Search) -> None:
    for text in ("½", "___", "🂡"):
        result = await search(text, threshold=0.99)
        assert (result.items, result.warnings) == ([], ())


@pytest.mark.usefixtures("people")
async def test_without_decay_the_order_of_a_strategy_stays(search: Search, clock: Clock) -> None:
    for strategy in ("graph_first", "text_first", "interleave"):
        plain, aged = [
            await search("chess mentor", strategy=strategy, now=clock(), half_life_days=days)
            for days in (None, 1e9)
        ]
        assert [(item.rank, type(item), item.found_by) for item in aged.items] == [
            (item.rank, type(item), item.found_by) for item in plain.items
        ]
