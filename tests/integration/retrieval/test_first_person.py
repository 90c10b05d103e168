"""Queries in the first person, about the owner of the graph, with the local model."""

import pytest
from kgagent.retrieval.mentions import is_first_person

from kgagent import HybridSearchOptions, KnowledgeGraph
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of
from tests.support.failing import fail_at
from tests.support.local_model import embedder

__all__ = ["embedder"]

NAMES = ("Paul Wegner", "Mia Wegner", "Helga Brandt", "Ines Brandt", "Otto Lind", "Rosa Lind", "Karl Voss", "Lena Falk")
OWNER, MIA, HELGA, INES, OTTO, ROSA, KARL, LENA = NAMES


@pytest.fixture
async def graph(opened: KnowledgeGraph, embedder: LocalEmbedder, user_id: str) -> KnowledgeGraph:
    """Described relationships of the owner, and bare ones of the same types between other people."""
    made = KnowledgeGraph(services_of(opened).store, opened.ontology, embedder, opened.settings)
    nodes = [{"label": "Person", "name": name, **({"is_owner": True} if name == OWNER else {})} for name in NAMES]
    described = [
        (MIA, OWNER, "wife", "Married in Lisbon in 2011; met in the choir of the old town", "likes sailing and Fado"),
        (
            KARL,
            OWNER,
            "boss",
            "Runs the archive where they restore maps, since the move in 2019",
            "wants reports early",
        ),
        (OTTO, OWNER, "brother", "Two years older, repairs church organs all over the country", "allergic to nuts"),
    ]
    bare = [(INES, HELGA, "wife"), (LENA, HELGA, "boss"), (ROSA, KARL, "wife"), (OTTO, ROSA, "brother")]
    answer = await made.tools(user_id=user_id).remember(
        nodes=nodes,
        relationships=[
            *(
                {"from": a, "to": b, "relationship_type": kind, "description": text, "notes": [note]}
                for a, b, kind, text, note in described
            ),
            *({"from": a, "to": b, "relationship_type": kind} for a, b, kind in bare),
        ],
    )
    assert answer["success"], answer
    return made


async def _first(graph: KnowledgeGraph, user_id: str, query: str) -> tuple[set[str], ...]:
    found = await graph.retrieval.hybrid_search(HybridSearchOptions(query=query), user_id=user_id)
    return tuple({one.from_name, one.to_name} for one in found.relationships or ())


@pytest.mark.parametrize(
    ("query", "other"), [("who is my wife?", MIA), ("Who is my boss?", KARL), ("do I have a brother?", OTTO)]
)
async def test_a_described_relationship_of_the_owner_is_before_bare_ones_of_others(
    graph: KnowledgeGraph, user_id: str, query: str, other: str
) -> None:
    assert (await _first(graph, user_id, query))[0] == {OWNER, other}


async def test_a_question_about_others_is_not_about_the_owner(graph: KnowledgeGraph, user_id: str) -> None:
    assert (await _first(graph, user_id, "who is the wife of Helga Brandt?"))[0] == {HELGA, INES}


async def test_a_path_starts_at_the_owner(graph: KnowledgeGraph, user_id: str) -> None:
    first = (await _first(graph, user_id, "who is the wife of my boss?"))[:3]
    assert {OWNER, KARL} in first
    assert {ROSA, KARL} in first


async def test_what_a_node_called_by_its_role_has_is_before_other_relationships_of_the_owner(
    graph: KnowledgeGraph, user_id: str
) -> None:
    answer = await graph.tools(user_id=user_id).remember(
        nodes=[{"label": "Concept", "name": name} for name in ("Liquorice", "Fennel", "Cumin")],
        relationships=[
            {"from": OTTO, "to": "Liquorice", "relationship_type": "dislikes"},
            {"from": OWNER, "to": "Fennel", "relationship_type": "dislikes", "description": "The owner dislikes it."},
            {"from": OWNER, "to": "Cumin", "relationship_type": "dislikes", "description": "The owner dislikes it."},
        ],
    )
    assert answer["success"], answer
    first = (await _first(graph, user_id, "What does my brother dislike?"))[:2]
    assert {frozenset(ends) for ends in first} == {frozenset((OTTO, OWNER)), frozenset((OTTO, "Liquorice"))}
    assert {OWNER, "Fennel"} in (await _first(graph, user_id, "What do I dislike?"))[:2]


async def test_a_level_that_the_query_says_comes_before_more_similar_relationships(
    graph: KnowledgeGraph, user_id: str
) -> None:
    levels = [(KARL, "tenant", 1, "Rents the mill; they argued about the bill for the roof"), (LENA, "friend", 4, "")]
    relationships = [
        {"from": other, "to": OWNER, "relationship_type": kind, "attitude": attitude, "description": text}
        for other, kind, attitude, text in levels
    ]
    answer = await graph.tools(user_id=user_id).remember(relationships=relationships)
    assert answer["success"], answer
    assert (await _first(graph, user_id, "Who is hostile to me?"))[0] == {OWNER, KARL}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who is my wife?", True),
        ("My sister's house", True),
        ("what did I promise?", True),
        ("Did I promise it?", True),
        ("i'm late for whom?", True),
        ("tell me", True),
        ("It rains. I stay.", True),
        ("who succeeded King Charles I?", False),
        ("who directed My Left Foot?", False),
        ("which army won?", False),
        ("who is Mya's wife?", False),
        ("Tell me about Ada Byron", False),
        ("please show me Ada's mentors", False),
        ("What do I know about Ada?", False),
        ("Tell me who my mentors are", True),
        ("Show me whom I met in Rome", True),
        ("What do I know about my sister?", True),
        ("Did Ada tell me about Rome?", True),
    ],
)
def test_the_first_person_is_a_pronoun_and_no_title(text: str, expected: bool) -> None:
    assert is_first_person(text) is expected


async def test_without_the_relationships_of_the_owner_a_search_returns_the_others(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at(monkeypatch, services_of(graph).store, "read", "search_owner_relationships")
    options = HybridSearchOptions(query="who is my wife?")
    found = await graph.retrieval.hybrid_search(options, user_id=user_id)
    assert found.relationships
    assert found.warnings == ()
    assert found.relationships[0].similarity is not None
