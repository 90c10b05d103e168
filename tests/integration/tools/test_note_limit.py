"""A record has a limited number of notes, so that no read, answer or embedding text grows without
end.
"""

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import two_friends


@pytest.fixture
async def tools(opened: KnowledgeGraph, user_id: str) -> Toolset:
    """Tools of a graph that keeps three notes of a record."""
    settings = opened.settings.model_copy(update={"max_notes": 3})
    graph = KnowledgeGraph(services_of(opened).store, opened.ontology, opened.embedder, settings)
    return graph.tools(user_id=user_id)


async def test_a_note_too_many_is_refused_and_nothing_of_the_call_is_written(
    tools: Toolset,
) -> None:
    ends = await two_friends(tools, description="Sail", notes=["a", "b", "c"])
    refused = error_of(await tools.update_relationship(**ends, description="Row", notes=["d"]))
    assert refused.startswith(
        "A record may have at most 3 notes, got 4: remove old notes (in remember: replaces"
    )
    stored = str(await tools.get_relationship(**ends))
    assert "Sail" in stored
    assert "Row" not in stored
    succeeded(await tools.update_relationship(**ends, description="Row", notes=["c"]))
    assert "got 5" in error_of(
        await tools.update_node(entity_key="Ada", notes=["1", "2", "3", "4", "5"])
    )


async def test_notes_of_one_call_are_written_as_far_as_there_is_room(tools: Toolset) -> None:
    await two_friends(tools, notes=["a"])
    for on in ("Ada", ["Ada", "Bo"]):
        notes = [{"on": on, "content": content} for content in ("b", "c", "d", "e")]
        payload = succeeded(await tools.remember(notes=notes))
        room = 3 if on == "Ada" else 2
        assert payload["notes_added"] == room, payload
        assert [failure["index"] for failure in payload["failures"]] == list(range(room, 4))
        assert payload["failures"][0]["error"].startswith(
            "A record may have at most 3 notes, got 4"
        )
