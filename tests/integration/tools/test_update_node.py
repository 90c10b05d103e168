import pytest

from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person
from tests.support.stored import Database


@pytest.mark.parametrize(
    "change", [{"name": "Countess"}, {"description": "A poet"}, {"notes": ["Likes tea"]}]
)
async def test_each_change_of_its_text_embeds_a_node_again_once(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, change: dict[str, object]
) -> None:
    key = await person(tools, "Ada", "A mathematician")
    embedder.forget()
    payload = succeeded(await tools.update_node(entity_key=key, **change))
    assert payload["embedding_regenerated"] is True
    assert len(embedder.stored) == 1
    await database.assert_current()


async def test_the_same_text_again_makes_no_embedding_call_and_no_write(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    key = await person(tools, "Ada", "A mathematician", notes=["Likes tea"])
    embedder.forget()
    payload = succeeded(
        await tools.update_node(
            entity_key=key, name="Ada", description="A mathematician", notes=["Likes tea"]
        )
    )
    assert payload["message"] == "Nothing changed"
    assert payload["embedding_regenerated"] is False
    assert embedder.calls == 0
    [stored] = await database.nodes()
    assert stored["version"] == 1


async def test_a_description_can_be_cleared(tools: Toolset, embedder: WatchedEmbedder) -> None:
    key = await person(tools, "Ada", "A mathematician")
    embedder.forget()
    payload = succeeded(await tools.update_node(entity_key=key, description=""))
    assert "description" not in payload["node"]
    assert embedder.stored == [["Ada", "A mathematician"]]
    error = error_of(await tools.update_node(entity_key=key))
    assert error == "Nothing to change: give name, aliases, description, notes or is_owner"


async def test_a_name_in_the_key_can_change_only_its_letter_case(tools: Toolset) -> None:
    key = await node(tools, "Concept", "chess")
    error = error_of(await tools.update_node(entity_key=key, name="Go"))
    assert error == (
        "Nodes of label Concept are identified by their names, so 'chess' cannot become 'Go'; give "
        "the new one in "
        "aliases, and both refer to it"
    )
    assert (
        succeeded(await tools.update_node(entity_key=key, name="Chess"))["node"]["name"] == "Chess"
    )
