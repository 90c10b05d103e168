"""What a call of each tool costs at most."""

import json
import re
from pathlib import Path

import pytest
from _definitions import toolset_sizes
from _tool_calls import CALLS, People, Setting, cost_of, load_sample

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder
from kgagent.observability import Recorder
from kgagent.tools.registry import TOOLS
from tests.conftest import Clock
from tests.support.graphs import watched_graph

BOUNDS = {
    "remember": (4, 1),
    "explore": (12, 1),
    "describe_graph": (
        200,
        0,
    ),  # one for each label and type of the database, and other tests leave theirs
    "hybrid_search": (12, 1),
    "query_patterns": (7, 1),
    "get_relationship": (1, 0),
    "traverse": (3, 0),
    "find_paths": (16, 1),
    "find_duplicates": (1, 0),
    "read_source": (2, 0),
    "create_node": (1, 1),
    "update_node": (2, 1),
    "create_relationship": (2, 1),
    "update_relationship": (2, 1),
    "add_note_to_relationship": (2, 1),
    "update_note": (2, 1),
    "delete_note": (2, 1),
    "delete_relationship": (2, 0),
    "delete_node": (3, 0),
    "merge_nodes": (6, 0),
    "restore": (4, 0),
}
"""Statements and requests for embeddings of one call at most."""


DEFINITIONS = {"core": 12_000, "graph": 5_600, "patterns": 8_000, "admin": 10_000, "all": 30_000}
"""Characters of the definitions of each toolset at most, as an MCP client receives them."""


@pytest.fixture
async def people(opened: KnowledgeGraph, user_id: str) -> People:
    """The sample graph as the user's."""
    return await load_sample(opened, user_id)


@pytest.fixture
def recorder() -> Recorder:
    """Keeps what the watched graph does."""
    return Recorder()


@pytest.fixture
async def graph(
    opened: KnowledgeGraph, embedder: Embedder, recorder: Recorder, clock: Clock
) -> KnowledgeGraph:
    """A graph that the recorder watches."""
    return watched_graph(opened, embedder, recorder, clock)


async def test_no_tool_takes_more_statements_or_embedding_requests_than_its_bound(
    graph: KnowledgeGraph, opened: KnowledgeGraph, recorder: Recorder, people: People, user_id: str
) -> None:
    plain = opened.tools(user_id=user_id)
    over = {}
    for place, (tool, bound) in enumerate(BOUNDS.items()):
        # The first call also learns what the user and the indexes are like. What is cached for some
        # seconds is read again if a busy server takes longer.
        for call in range(3):
            cost = await cost_of(graph, recorder, tool, Setting(plain, people, 10 * place + call))
            if cost.embeddings > bound[1] or (call == 2 and cost.statements > bound[0]):
                over[tool] = cost
            if call and cost.statements <= bound[0]:
                break
    assert over == {}


async def test_creating_takes_few_statements_and_one_embedding_request_from_the_first_call_on(
    graph: KnowledgeGraph, opened: KnowledgeGraph, recorder: Recorder, people: People, user_id: str
) -> None:
    for number, (tool, statements) in enumerate(
        {"create_node": 1, "create_relationship": 2}.items()
    ):
        cost = await cost_of(
            graph, recorder, tool, Setting(opened.tools(user_id=user_id), people, number)
        )
        assert (tool, cost.statements, cost.embeddings) == (tool, statements, 1)


async def test_the_size_of_an_answer_is_that_of_the_json_that_a_model_is_given(
    graph: KnowledgeGraph, opened: KnowledgeGraph, recorder: Recorder, people: People, user_id: str
) -> None:
    tools = opened.tools(user_id=user_id)
    cost = await cost_of(graph, recorder, "get_relationship", Setting(tools, people, 0))
    answer = await tools.get_relationship(from_entity_key=people.owner, to_entity_key=people.mentor)
    assert cost.characters == len(json.dumps(answer, ensure_ascii=False))


async def test_explore_makes_one_embedding_request_for_all_its_queries(
    graph: KnowledgeGraph, recorder: Recorder, user_id: str
) -> None:
    answer = await graph.tools(user_id=user_id).explore(
        queries=[{"query": "mentors"}, {"query": "rivals"}]
    )
    assert answer["success"]
    assert [request.texts for request in recorder.embeddings] == [2]


def test_no_toolset_has_longer_definitions_than_its_bound() -> None:
    sizes = {name: size for name, (_, size) in toolset_sizes().items()}
    assert sizes.keys() == DEFINITIONS.keys()
    assert {name: size for name, size in sizes.items() if size > DEFINITIONS[name]} == {}


def test_the_documentation_shows_the_size_of_the_definitions(repository_root: Path) -> None:
    text = (repository_root / "docs" / "mcp.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d,]+) \|$", text, re.MULTILINE)
    shown = {name: int(size.replace(",", "")) for name, size in rows}
    sizes = {name: size for name, (_, size) in toolset_sizes().items()}
    assert shown == {name: pytest.approx(size, rel=0.2) for name, size in sizes.items()}


def test_every_tool_has_a_call_and_a_bound() -> None:
    assert list(CALLS) == list(BOUNDS) == [tool.name for tool in TOOLS]
