import math
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.hashing import hash_embedding
from kgagent.errors import InputError
from kgagent.models import (
    ExploreRequest,
    HybridSearchRequest,
    RelationshipSearchResult,
    VectorQuery,
)
from kgagent.tools import Toolset
from tests.support.crowd import plant_people, plant_relationships
from tests.support.embedders import WatchedEmbedder
from tests.support.people import remembered
from tests.support.stored import cosine, relationships_of

pytestmark = pytest.mark.neo4j_5

RELATIONSHIPS = [
    ("mentor", "Taught botany in college"),
    ("mentor", "Gives advice on careers"),
    ("friend", "Rows with the owner on the lake"),
    ("friend", "Plays chess every Sunday"),
    ("rival", "Lost the chess final in May"),
    ("landlord", "Owns the flat in Rome"),
]


@pytest.fixture
async def known(tools: Toolset, embedder: WatchedEmbedder) -> list[str]:
    """The owner's key, then those of the others in the order of RELATIONSHIPS."""
    names = [f"P{number}" for number in range(len(RELATIONSHIPS) + 1)]
    keys = await remembered(
        tools,
        [{"label": "Person", "name": name} for name in names],
        [
            {"from": "P0", "to": name, "relationship_type": word, "description": text}
            for name, (word, text) in zip(names[1:], RELATIONSHIPS, strict=True)
        ],
    )
    embedder.forget()
    return [keys[name] for name in names]


async def test_similarity_is_plain_cosine_and_the_most_similar_comes_first(
    searched: KnowledgeGraph, plan: str, user_id: str, known: list[str]
) -> None:
    query = "chess on Sunday"
    stored = await relationships_of(searched, user_id)
    expected = {
        item["description"]: cosine(hash_embedding(query, 384), item["relationship_embedding"])
        for item in stored
    }
    found = await searched.retrieval.relationship_vector_search(query, -1.0, user_id=user_id)
    assert (found.plan == "exact") == (plan == "exact")
    assert [match.description for match in found] == sorted(
        expected, key=lambda text: -expected[text]
    )
    for match in found:
        assert match.similarity == pytest.approx(expected[match.description or ""], abs=1e-5)
    assert (found[0].from_entity_key, found[0].to_entity_key) == (known[0], known[4])
    assert (found[0].neo4j_type, found[0].properties["confidence"]) == (
        "has_relationship_with",
        0.8,
    )


@pytest.mark.usefixtures("known")
async def test_only_what_is_similar_enough_is_found(searched: KnowledgeGraph, user_id: str) -> None:
    every = await searched.retrieval.relationship_vector_search("chess", -1.0, user_id=user_id)
    for position in range(len(every) - 1):
        between = (every[position].similarity + every[position + 1].similarity) / 2
        found = await searched.retrieval.relationship_vector_search(
            "chess", between, user_id=user_id
        )
        assert [match.pair for match in found] == [match.pair for match in every[: position + 1]]
    assert (
        len(await searched.retrieval.relationship_vector_search("chess", 1.0, user_id=user_id)) == 0
    )


@pytest.mark.usefixtures("known")
async def test_the_type_filter_is_the_free_word(searched: KnowledgeGraph, user_id: str) -> None:
    cases: list[tuple[list[str] | None, int]] = [
        (["mentor"], 2),
        (["mentor", "rival"], 3),
        (["friend", "friend"], 2),
        (["Mentor"], 2),
        (["mentor' OR true //"], 0),
        ([], 6),
        (None, 6),
    ]
    for types, count in cases:
        found = await searched.retrieval.relationship_vector_search(
            "x", -1.0, user_id=user_id, relationship_types=types
        )
        assert len(found) == count
        assert not types or {match.relationship_type for match in found} <= {
            name.lower() for name in types
        }


@pytest.mark.usefixtures("known")
async def test_a_vector_that_is_passed_in_is_used_without_an_embedding_call(
    searched: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str
) -> None:
    by_vector = await searched.retrieval.relationship_vector_search(
        threshold=-1.0, user_id=user_id, vector=list(hash_embedding("chess", 384))
    )
    assert embedder.calls == 0
    by_text = await searched.retrieval.relationship_vector_search("chess", -1.0, user_id=user_id)
    assert [match.pair for match in by_vector] == [match.pair for match in by_text]
    assert embedder.queries == [["chess"]]


@pytest.mark.usefixtures("known")
async def test_the_length_of_a_vector_does_not_count(
    searched: KnowledgeGraph, user_id: str
) -> None:
    search = searched.retrieval.relationship_vector_search
    short = await search(threshold=-1.0, user_id=user_id, vector=hash_embedding("chess", 384))
    long = await search(
        threshold=-1.0, user_id=user_id, vector=[1_000 * x for x in hash_embedding("chess", 384)]
    )
    assert len(await search(threshold=-1.0, user_id=user_id, vector=[1] * 384)) == len(short)
    assert [match.similarity for match in long] == pytest.approx(
        [match.similarity for match in short], abs=1e-5
    )


async def test_an_invalid_argument_is_reported(graph: KnowledgeGraph, user_id: str) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"query": "  "}, "query must not be empty"),
        ({}, "query must not be empty"),
        ({"query": "x", "threshold": 1.5}, "threshold must be a cosine from -1 to 1, got 1.5"),
        ({"query": "x", "threshold": math.nan}, "threshold must be a cosine from -1 to 1, got nan"),
        ({"query": "x", "limit": 0}, "limit must be 1 to 10000, got 0"),
        ({"query": "x", "user_id": ""}, "user_id must not be empty"),
        ({"vector": [1.0]}, "vector must have 384 dimensions, got 1"),
        ({"vector": ["x"] * 384}, "vector must be numbers"),
        *(
            ({"vector": [wrong] * 384}, "vector must be finite and not all zero")
            for wrong in (0.0, math.nan, 1e300)
        ),
    ]
    for arguments, said in cases:
        for search in (
            graph.retrieval.relationship_vector_search,
            graph.retrieval.node_vector_search,
        ):
            with pytest.raises(InputError, match=said):
                await search(**{"user_id": user_id, **arguments})


async def test_a_search_returns_as_many_results_as_requested(
    searched: KnowledgeGraph, user_id: str
) -> None:
    keys = await plant_people(searched, user_id, 61)
    await plant_relationships(
        searched,
        user_id,
        [
            {
                "first": keys[0],
                "second": key,
                "properties": {
                    "relationship_type": "even" if number % 2 else "odd",
                    "relationship_embedding": list(
                        hash_embedding(f"common word and {number}", 384)
                    ),
                    "embedding_model": "blake2b-words",
                },
            }
            for number, key in enumerate(keys[1:])
        ],
    )
    search = searched.retrieval.relationship_vector_search
    for limit in (1, 20, 60, 200):
        assert len(await search("common word", -1.0, user_id=user_id, limit=limit)) == min(
            limit, 60
        )
    assert len(await search("common word", -1.0, user_id=user_id)) == 20
    assert (
        len(
            await search(
                "common word", -1.0, user_id=user_id, relationship_types=["odd"], limit=100
            )
        )
        == 30
    )


async def test_nodes_are_found_through_the_relationships_that_join_them(
    searched: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str, known: list[str]
) -> None:
    found = await searched.retrieval.find_nodes_via_relationship_search(
        "mentor", 0.2, user_id=user_id, relationship_types=["mentor"]
    )
    assert [match.relationship_type for match in found.relationships] == ["mentor", "mentor"]
    best = [
        key for match in found.relationships for key in (match.from_entity_key, match.to_entity_key)
    ]
    assert [node.entity_key for node in found.nodes] == list(dict.fromkeys(best))
    assert {node.entity_key for node in found.nodes} == {known[0], known[1], known[2]}
    assert embedder.queries == [["mentor"]]


@pytest.fixture
async def two_types(tools: Toolset) -> None:
    """A friend of type has_relationship_with and a hobby of type engages_with, in nearly the same
    words.
    """
    plays = {"from": "Ada", "relationship_type": "companion"}
    await remembered(
        tools,
        [
            {"label": label, "name": name}
            for label, name in (("Person", "Ada"), ("Person", "Bo"), ("Concept", "Chess"))
        ],
        [
            {**plays, "to": "Bo", "description": "plays chess every week"},
            {**plays, "to": "Chess", "description": "plays chess every day"},
        ],
    )


@pytest.mark.usefixtures("two_types")
@pytest.mark.parametrize("neo4j_type", ["has_relationship_with", "engages_with"])
async def test_relationship_searches_keep_to_neo4j_types(
    searched: KnowledgeGraph, user_id: str, neo4j_type: str
) -> None:
    retrieval, types = searched.retrieval, (neo4j_type,)
    query = "companion plays chess"
    matches = await retrieval.relationship_vector_search(
        query, -1.0, user_id=user_id, neo4j_types=types, limit=1
    )
    assert [match.neo4j_type for match in matches] == [neo4j_type]
    nodes = await retrieval.find_nodes_via_relationship_search(
        query, -1.0, user_id=user_id, neo4j_types=types
    )
    assert {match.neo4j_type for match in nodes.relationships} == {neo4j_type}
    request = HybridSearchRequest(query=query, threshold=-1.0, neo4j_types=(neo4j_type.upper(),))
    found = await retrieval.hybrid_search(request, user_id=user_id)
    [item] = found.relationships or ()
    assert (item.neo4j_type, item.found_by[:2]) == (
        neo4j_type,
        ("statement_vector", "statement_fulltext"),
    )
    exploration = ExploreRequest(
        queries=(VectorQuery(query=query, threshold=-1.0),), neo4j_types=types
    )
    explored = await retrieval.explore(exploration, user_id=user_id)
    matched = [
        item for item in explored.relationships if isinstance(item, RelationshipSearchResult)
    ]
    assert [item.neo4j_type for item in matched] == [neo4j_type]


@pytest.mark.parametrize("wrong", [{"neo4j_types": ["nonsense"]}, {"nonsense": 1}])
async def test_unknown_types_and_filters_are_refused(
    graph: KnowledgeGraph, user_id: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="nonsense"):
        await graph.retrieval.relationship_vector_search("mentor", user_id=user_id, **wrong)


@pytest.mark.usefixtures("known")
async def test_a_type_that_no_relationship_has_is_a_warning(
    graph: KnowledgeGraph, user_id: str
) -> None:
    for search in (
        graph.retrieval.relationship_vector_search,
        graph.retrieval.find_nodes_via_relationship_search,
    ):
        found = await search("chess", user_id=user_id, relationship_types=["mentr"])
        assert found.warnings == ("No relationship has the type 'mentr'. Nearest: mentor",)
