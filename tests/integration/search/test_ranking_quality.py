"""The order of the results, and whether any is relevant, on the sample graph with the local
model.
"""

from collections.abc import Sequence

import pytest
from _off_topic import ANSWERABLE, OFF_TOPIC

from kgagent import ExploreRequest, HybridSearchRequest, KnowledgeGraph, VectorQuery
from kgagent.cli.demo.sample import sample_file
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.models import RelationshipSearchResult
from tests.conftest import Clock
from tests.support.local_model import embedder

__all__ = ["embedder"]

OWNER = "Ines Halloran"
MENTORS = {"Ruth Adeyemi", "Tomasz Wilk", "Marguerite Sallow"}
QUESTION = "who are my mentors?"
SHARE_OF_QUESTIONS = 4
"""One of so many questions is asked, to keep the test short; `benchmarks/quality.py` asks all."""


@pytest.fixture
async def graph(
    opened: KnowledgeGraph, embedder: LocalEmbedder, clock: Clock, user_id: str
) -> KnowledgeGraph:
    """The sample graph as the user's."""
    sample = KnowledgeGraph(
        services_of(opened).store, opened.ontology, embedder, opened.settings, clock=clock
    )
    with sample_file() as path:
        await sample.load(path, user_id=user_id)
    return sample


async def test_mentors_come_first_at_the_owner_and_among_the_first_people(
    graph: KnowledgeGraph, user_id: str
) -> None:
    result = await graph.retrieval.hybrid_search(
        HybridSearchRequest(query=QUESTION), user_id=user_id
    )
    assert set(_first_people([(node.label, node.name) for node in result.objects])) >= MENTORS
    found = [one for one in result.relationships or () if not one.path and one.to_name == OWNER]
    assert {one.from_name for one in found[:3]} == MENTORS
    explored = await graph.retrieval.explore(
        ExploreRequest(queries=(VectorQuery(query=QUESTION),)), user_id=user_id
    )
    assert (
        set(_first_people([(one.node.label, one.node.name) for one in explored.nodes])) >= MENTORS
    )
    matches = [
        one
        for one in explored.relationships
        if isinstance(one, RelationshipSearchResult) and not one.path
    ]
    matches = [one for one in matches if one.to_name == OWNER]
    assert {one.from_name for one in matches[:3]} == MENTORS


@pytest.mark.parametrize("tool", ["hybrid_search", "explore"])
async def test_the_text_of_an_answer_has_the_mentors_first(
    graph: KnowledgeGraph, user_id: str, tool: str
) -> None:
    asked = {"query": QUESTION} if tool == "hybrid_search" else {"queries": [{"query": QUESTION}]}
    answer = await graph.tools(user_id=user_id)[tool].call_text(asked)
    related = [line for line in answer.text.splitlines() if f"]-> {OWNER}" in line]
    assert {name for name in MENTORS for line in related[:3] if line.startswith(name)} == MENTORS


async def test_questions_about_anything_else_find_nothing_relevant(
    graph: KnowledgeGraph, user_id: str
) -> None:
    answerable = [
        (await _relevant(graph, user_id, text))
        for text in (QUESTION, *ANSWERABLE[::SHARE_OF_QUESTIONS])
    ]
    off_topic = [
        (await _relevant(graph, user_id, text)) for text in OFF_TOPIC[::SHARE_OF_QUESTIONS]
    ]
    assert answerable.count(False) <= 1
    assert off_topic.count(True) <= 1


async def _relevant(graph: KnowledgeGraph, user_id: str, text: str) -> bool | None:
    result = await graph.retrieval.hybrid_search(HybridSearchRequest(query=text), user_id=user_id)
    assert result.relevance is not None
    assert result.is_relevant is (result.relevance >= 0.5)
    explored = await graph.retrieval.explore(
        ExploreRequest(queries=(VectorQuery(query=text),)), user_id=user_id
    )
    assert explored.relevance == pytest.approx(result.relevance)
    return result.is_relevant


def _first_people(nodes: Sequence[tuple[str, str]]) -> list[str]:
    """Names of the first eight people."""
    return [name for label, name in nodes if label == "Person"][:8]
