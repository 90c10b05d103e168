"""An error about a node that does not exist says that it was deleted, and until when it can be restored."""

from datetime import timedelta

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.payloads import error_of, succeeded
from tests.support.people import person


async def test_a_deleted_node_is_said_to_be_restorable_until_then(
    tools: Toolset, graph: KnowledgeGraph, clock: Clock
) -> None:
    key = await person(tools, "Fulda")
    assert "deleted" not in error_of(await tools.delete_node(entity_key="Kassel"))
    succeeded(await tools.delete_node(entity_key=key))
    moment = clock()
    until = moment + timedelta(days=graph.settings.undo_days)
    expected = (
        f"Person Fulda ({key[:12]}) was deleted on {moment:%Y-%m-%dT%H:%M}Z; restorable until {until:%Y-%m-%dT%H:%M}Z"
    )
    for reference in ("fulda", key, key[:8]):
        assert error_of(await tools.delete_node(entity_key=reference)).endswith(expected)
    assert expected in error_of(await tools.get_relationship(from_entity_key="Fulda", to_entity_key="me"))
    clock.now = until
    assert "deleted" not in error_of(await tools.delete_node(entity_key="Fulda"))
