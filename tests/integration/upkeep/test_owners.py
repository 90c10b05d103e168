"""Several owners of one user, as other programs and earlier loads could make them, are found and
can be repaired.
"""

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from kgagent.upkeep.diagnosis import Finding
from tests.conftest import Clock
from tests.support.payloads import error_of, succeeded
from tests.support.people import person
from tests.support.stored import cypher


async def findings(graph: KnowledgeGraph, user_id: str) -> list[Finding]:
    return [
        found
        for found in (await graph.diagnose(user_id=user_id)).findings
        if "owner" in found.message
    ]


@pytest.fixture
async def owners(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, clock: Clock
) -> tuple[str, str]:
    """Two owners of the user."""
    first = await person(tools, "Ada", is_owner=True)
    assert await findings(graph, user_id) == []
    clock.forward(minutes=1)
    second = await person(tools, "Ada Byron")
    mark = "MATCH (n:Person|Concept {user_id: $user, entity_key: $key}) SET n.is_owner = true"
    await cypher(graph, mark, user=user_id, key=second)
    return first, second


async def test_they_are_a_warning_that_names_them(
    graph: KnowledgeGraph, user_id: str, owners: tuple[str, str]
) -> None:
    [finding] = await findings(graph, user_id)
    first, second = owners
    assert finding.severity == "warning"
    assert (
        finding.message == f"User {user_id!r} has 2 owners: 'Ada' ({first}), 'Ada Byron' ({second})"
    )
    assert await findings(graph, f"{user_id}-other") == []


async def test_the_tools_that_the_fix_names_repair_it(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, owners: tuple[str, str]
) -> None:
    _, second = owners
    assert "could refer to 2 nodes" in error_of(await tools.traverse(entity_key="me"))
    succeeded(await tools.update_node(entity_key=second, is_owner=False))
    assert await findings(graph, user_id) == []
    succeeded(await tools.traverse(entity_key="me"))
