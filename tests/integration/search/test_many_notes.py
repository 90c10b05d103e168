"""A record with many notes hides no other, and shows the note that matches."""

from typing import Any

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError
from kgagent.models.hybrid import HybridSearchRequest, HybridSearchResult
from tests.support.embedders import WatchedEmbedder
from tests.support.people import create_all

RARE = "The Zylophar lies in the drawer of her old grey desk near the tall window by the garden shed, she says"


async def relate(graph: KnowledgeGraph, user_id: str, *described: tuple[str, list[str]]) -> None:
    """A relationship of Ada for each description with notes."""
    others = [f"Other {number}" for number, _ in enumerate(described)]
    relationships: list[dict[str, Any]] = [
        {
            "from": "Ada",
            "to": other,
            "relationship_type": "friend",
            "description": text,
            "notes": notes,
        }
        for other, (text, notes) in zip(others, described, strict=True)
    ]
    await create_all(
        graph,
        user_id,
        [{"label": "Person", "name": name} for name in ("Ada", *others)],
        relationships,
    )


def contents(result: HybridSearchResult) -> list[str]:
    return [
        one.note.content
        for found in result.relationships or ()
        for one in found.statements
        if one.note is not None
    ]


async def test_a_record_with_many_notes_leaves_room_for_others(
    graph: KnowledgeGraph, user_id: str
) -> None:
    trips = [f"sailing trip on lake number {number}" for number in range(120)]
    tales = [
        (f"sailing trip on lake, long tale of the crew member {number}", list[str]())
        for number in range(8)
    ]
    await relate(graph, user_id, ("They sail together", trips), *tales)
    options = HybridSearchRequest(query="sailing trip on lake number", expand_hops=0)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    assert len(result.relationships or ()) == 9


async def test_the_note_that_has_a_rare_word_is_shown_among_nearer_ones(
    graph: KnowledgeGraph, user_id: str
) -> None:
    near = [f"which note has the code, asked person {number}" for number in range(90)]
    await relate(graph, user_id, ("They sail together", [*near, RARE]))
    options = HybridSearchRequest(query="the code Zylophar")
    assert RARE in contents(await graph.retrieval.hybrid_search(options, user_id=user_id))


async def test_without_an_embedding_the_note_that_has_the_words_is_shown(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await relate(graph, user_id, ("They sail together", [RARE, "unrelated"]))
    embedder.failure = EmbeddingUnavailableError("the model is away")
    result = await graph.retrieval.hybrid_search(
        HybridSearchRequest(query="Where is the Zylophar?"), user_id=user_id
    )
    assert contents(result)[0] == RARE
    assert (result.relationships or ())[0].score > 0.0
