"""The exact statements that each search sends: a statement too many is a failing test."""

from collections.abc import Awaitable, Callable

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder
from kgagent.knowledge_graph import services_of
from kgagent.models import ExploreRequest, VectorQuery
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.observability import Recorder
from tests.support.people import create_all

QUERY = "who taught Ada to lead?"
COUNT, OMITTED = "count_relationships", "count_omitted"
NAMED, HOP, READ = "find_named_nodes", "expand_hop", "read_found"
STATEMENTS, TEXTS = "search_statements_exact", "search_statements_text"
NODES, RELATIONSHIPS = "search_nodes_exact", "search_relationships_exact"
RETRIEVAL = sorted([NAMED, STATEMENTS, TEXTS])
"""What runs concurrently; its order does not count."""


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def graph(
    opened: KnowledgeGraph, embedder: Embedder, recorder: Recorder, user_id: str
) -> KnowledgeGraph:
    """A chain of people, longer than a search expands."""
    names = ("Ruth", "Ada", "Bo", "Cy", "Di")
    chain = ("mentor", "chess partner", "cousin", "neighbour")
    await create_all(
        opened,
        user_id,
        [{"label": "Person", "name": name} for name in names],
        [
            {
                "from": first,
                "to": second,
                "relationship_type": kind,
                "description": f"zzz {kind} zzz",
            }
            for first, second, kind in zip(names, names[1:], chain, strict=False)
        ],
    )
    settings = opened.settings
    return KnowledgeGraph(
        services_of(opened).store, opened.ontology, embedder, settings, observer=recorder
    )


Search = Callable[[], Awaitable[object]]


@pytest.fixture
def sent(recorder: Recorder) -> Callable[[Search], Awaitable[list[str]]]:
    """The statements of a search."""

    async def run(search: Search) -> list[str]:
        recorder.clear()
        await search()
        return [one.name for one in recorder.statements]

    return run


Sent = Callable[[Search], Awaitable[list[str]]]


async def test_a_warm_hybrid_search_sends_six_statements_in_four_rounds(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    async def search() -> None:
        result = await graph.retrieval.hybrid_search(
            HybridSearchRequest(query=QUERY, threshold=0.2), user_id=user_id
        )
        assert result.relationships
        assert result.warnings == ()

    first = await sent(search)
    warm = await sent(search)
    assert sorted(warm[:3]) == RETRIEVAL
    assert warm[3:] == [HOP, HOP, READ]
    assert sorted(first) == sorted([*warm, COUNT, OMITTED])
    of_nodes = HybridSearchRequest(query=QUERY, search_relationships=False)
    statements = await sent(lambda: graph.retrieval.hybrid_search(of_nodes, user_id=user_id))
    assert sorted(statements) == sorted([*RETRIEVAL, READ])


async def test_a_strategy_of_the_documents_sends_five_statements_in_two_rounds(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    options = HybridSearchRequest(query=QUERY, threshold=0.2, strategy="rrf")

    async def search() -> None:
        result = await graph.retrieval.hybrid_search(options, user_id=user_id)
        assert result.objects

    await sent(search)
    warm = await sent(search)
    assert sorted(warm[:4]) == sorted(
        [NODES, RELATIONSHIPS, "search_nodes_text", "search_relationships_text"]
    )
    assert warm[4:] == [READ]


async def test_a_search_among_a_thousand_notes_of_a_record_sends_the_same_statements(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    islands, lessons = (
        [f"{act} {number}" for number in range(1_000)]
        for act in ("Sailed to island", "Taught lesson")
    )
    people = (
        {"label": "Person", "name": name, "notes": notes}
        for name, notes in (("Hub", islands), ("Pupil", []))
    )
    mentor = {"from": "Hub", "to": "Pupil", "relationship_type": "mentor", "notes": lessons}
    await create_all(graph, user_id, people, [mentor])

    async def search() -> None:
        asked = HybridSearchRequest(query="who taught lesson 900?", threshold=0.2)
        result = await graph.retrieval.hybrid_search(asked, user_id=user_id)
        assert result.relationships
        best = result.relationships[0].statements[0]
        assert best.note is not None
        assert best.note.content == "Taught lesson 900"
        assert result.warnings == ()

    await sent(search)
    warm = [name.replace("search_statements_index", STATEMENTS) for name in await sent(search)]
    assert sorted(warm[:3]) == RETRIEVAL
    assert warm[3:] == [HOP, READ]  # no relationship is two hops away


async def test_explore_sends_at_most_six_statements(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    queries = (
        VectorQuery(query=QUERY, threshold=0.2),
        VectorQuery(query="who plays chess?", threshold=0.2),
    )

    async def explore() -> None:
        result = await graph.retrieval.explore(ExploreRequest(queries=queries), user_id=user_id)
        assert result.nodes
        assert result.warnings == ()

    await sent(explore)
    warm = await sent(explore)
    assert sorted(warm[:3]) == RETRIEVAL
    assert warm[3:] == [HOP, HOP, "read_explored"]


async def test_explore_by_names_alone_sends_three_statements(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    request = ExploreRequest(text_matches=("Ada",))
    statements = await sent(lambda: graph.retrieval.explore(request, user_id=user_id))
    assert statements == ["match_text", "read_nodes", "read_explored"]


async def test_relationship_vector_search_sends_one_statement(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    async def search() -> None:
        assert await graph.retrieval.relationship_vector_search("mentor", 0.2, user_id=user_id)

    await sent(search)
    assert await sent(search) == [RELATIONSHIPS]


async def test_a_match_by_name_sends_two_statements(
    graph: KnowledgeGraph, user_id: str, sent: Sent
) -> None:
    statements = await sent(lambda: graph.retrieval.text_match("Ada", user_id=user_id))
    assert statements == ["match_text", "read_nodes"]
