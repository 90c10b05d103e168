"""When something was written, as answers tell it: the time of this very write, in one form."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.models import ExploreRequest, VectorQuery
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.payloads import succeeded
from tests.support.people import person, persons, relate, two_friends
from tests.support.stored import Database

BEGAN = "2026-01-01T10:20:30.123456Z"
LATER = "2026-01-01T11:20:30.123456Z"


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.now = datetime(2026, 1, 1, 10, 20, 30, 123_456, tzinfo=UTC)
    return clock


def times(record: dict[str, Any]) -> tuple[str, str]:
    properties = record["properties"]
    return properties["created_at"], properties["updated_at"]


async def test_a_write_returns_the_time_that_a_read_returns(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    ada, bo = await persons(tools, "Ada", "Bo")
    ends = {"from_entity_key": ada, "to_entity_key": bo}
    assert times((await relate(tools, ada, bo))["relationship"]) == (BEGAN, BEGAN)
    clock.forward(hours=1)
    for answer in (
        await tools.update_relationship(**ends, attitude=4),
        await tools.add_note_to_relationship(**ends, content="They row"),
    ):
        assert times(succeeded(answer)["relationship"]) == (BEGAN, LATER)
    assert times(succeeded(await tools.update_node(entity_key=ada, description="x"))["node"]) == (
        BEGAN,
        LATER,
    )
    request = ExploreRequest(
        queries=(VectorQuery(query="friend", threshold=-1),), text_matches=("Ada",)
    )
    found = await graph.explore(request, user_id=user_id)
    assert times(found.relationships[0].to_dict()) == (BEGAN, LATER)
    assert {times(item.node.to_dict()) for item in found.nodes} == {(BEGAN, LATER), (BEGAN, BEGAN)}
    assert "created_at" not in str(succeeded(await tools.get_relationship(**ends)))


async def test_new_and_merged_records_have_a_time(tools: Toolset, clock: Clock) -> None:
    made = succeeded(await tools.create_node(label="Person", name="Ada"))
    assert times(made["node"]) == (BEGAN, BEGAN)
    second = await person(tools, "Adah", "Rows")
    clock.forward(hours=1)
    merged = succeeded(
        await tools.merge_nodes(keep_entity_key=made["entity_key"], drop_entity_key=second)
    )
    assert times(merged["node"]) == (BEGAN, LATER)


async def test_times_of_old_graphs_are_returned_in_the_current_form_and_other_values_unchanged(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    await two_friends(tools)
    await database.run(
        "MATCH (:Person {user_id: $user})-[r]->() SET r.created_at = "
        "datetime('2020-01-01T01:00[Europe/Berlin]'), "
        "r.updated_at = 'yesterday'",
    )
    old_times = ("2020-01-01T00:00:00Z", "yesterday")
    request = ExploreRequest(queries=(VectorQuery(query="friend", threshold=-1),))
    found = await graph.explore(request, user_id=user_id)
    assert times(found.relationships[0].to_dict()) == old_times
