import pytest

from kgagent import KnowledgeGraph
from tests.support.drawn import Drawing


@pytest.fixture
def drawing(graph: KnowledgeGraph, user_id: str) -> Drawing:
    """An empty graph of the test's user to draw on."""
    return Drawing(graph, user_id)


@pytest.fixture
async def theirs(graph: KnowledgeGraph, user_id: str) -> Drawing:
    """The graph of another user, with one node that is as near to the query as can be."""
    other = Drawing(graph, f"{user_id}-other")
    await other.nodes(similar={"secret": 1.0})
    return other
