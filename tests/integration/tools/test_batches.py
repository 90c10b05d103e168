"""create_relationships and update_relationships."""

import pytest

from kgagent.tools import Payload, Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import persons
from tests.support.stored import Database


@pytest.fixture
async def people(tools: Toolset, embedder: WatchedEmbedder) -> list[str]:
    keys = await persons(tools, "Ada", "Bo", "Cy", "Di")
    embedder.forget()
    return keys


def between(first: str, second: str, **more: object) -> Payload:
    return {"from_entity_key": first, "to_entity_key": second, **more}


async def test_several_relationships_are_embedded_in_one_request(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, people: list[str]
) -> None:
    payload = succeeded(
        await tools.create_relationships(
            relationships=[
                between(people[0], other, relationship_type=word, notes=[f"note of a {word}"])
                for other, word in zip(people[1:], ("friend", "mentor", "rival"), strict=True)
            ]
        )
    )
    assert payload["message"] == "Created 3 of 3 relationships"
    assert [result["relationship"]["relationship_type"] for result in payload["results"]] == [
        "friend",
        "mentor",
        "rival",
    ]
    assert all(
        result["success"] and result["embedding_regenerated"] for result in payload["results"]
    )
    assert embedder.stored == [
        [
            text
            for word in ("friend", "mentor", "rival")
            for text in (f"{word} note of a {word}", word, f"note of a {word}")
        ]
    ]
    assert len(await database.assert_current()) == 3


async def test_each_relationship_is_created_or_rejected_on_its_own(
    tools: Toolset, embedder: WatchedEmbedder, people: list[str]
) -> None:
    payload = succeeded(
        await tools.create_relationships(
            relationships=[
                between(people[0], people[1], relationship_type="friend"),
                between(people[0], "ghost", relationship_type="friend"),
                between(people[0], people[2], relationship_type="friend", attitude="lukewarm"),
                between(
                    people[0],
                    people[3],
                    relationship_type="friend",
                    notes=[{"content": "x", "lifetime": "eon"}],
                ),
                between(people[1], people[2], relationship_type="friend"),
            ]
        )
    )
    assert (
        payload["message"] == "Created 2 of 5 relationships; rejected, by position from 0: 1, 2, 3"
    )
    good, ghost, word, lifetime, also_good = payload["results"]
    assert good["success"]
    assert also_good["success"]
    assert error_of(ghost) == "One or both nodes do not exist: ghost" + WHERE_KEYS_ARE
    assert error_of(word).startswith('Invalid word "lukewarm"')
    assert error_of(lifetime).startswith("lifetime must be one of")
    assert len(embedder.stored) == 1


async def test_a_batch_in_which_every_item_fails_is_a_failure_with_a_reason(
    tools: Toolset, embedder: WatchedEmbedder, people: list[str]
) -> None:
    payload = await tools.create_relationships(
        relationships=[
            between(people[0], f"ghost {number}", relationship_type="friend") for number in (1, 2)
        ]
    )
    assert (
        error_of(payload)
        == "Created 0 of 2 relationships: One or both nodes do not exist: ghost 1" + WHERE_KEYS_ARE
    )
    reasons = [error_of(result).removesuffix(WHERE_KEYS_ARE) for result in payload["results"]]
    assert [error[-7:] for error in reasons] == ["ghost 1", "ghost 2"]
    assert embedder.calls == 0


async def test_the_same_pair_twice_is_created_once_whichever_end_comes_first(
    tools: Toolset, database: Database, people: list[str]
) -> None:
    twice = [
        between(people[0], people[1], relationship_type="friend"),
        between(people[1], people[0], relationship_type="rival"),
    ]
    created, refused = succeeded(await tools.create_relationships(relationships=twice))["results"]
    assert created["success"]
    assert "Relationship already exists between Bo" in error_of(refused)
    [stored] = await database.relationships()
    assert stored["relationship_type"] == "friend"


async def test_several_changes_are_embedded_in_one_request_and_unchanged_texts_not_at_all(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, people: list[str]
) -> None:
    pairs = [(people[0], other) for other in people[1:]]
    succeeded(
        await tools.create_relationships(
            relationships=[between(*pair, relationship_type="friend", attitude=3) for pair in pairs]
        )
    )
    embedder.forget()
    payload = succeeded(
        await tools.update_relationships(
            relationships=[
                between(*pairs[0], attitude=5),
                between(*pairs[1], attitude="neutral"),
                between(*pairs[2], relationship_type="rival"),
            ]
        )
    )
    assert payload["message"] == "Updated 3 of 3 relationships"
    assert [result["embedding_regenerated"] for result in payload["results"]] == [True, False, True]
    assert embedder.stored == [["friend close", "rival neutral"]]
    await database.assert_current()


async def test_two_changes_of_one_relationship_are_made_in_their_order(
    tools: Toolset, database: Database, people: list[str]
) -> None:
    succeeded(
        await tools.create_relationships(
            relationships=[between(*people[:2], relationship_type="friend")]
        )
    )
    payload = succeeded(
        await tools.update_relationships(
            relationships=[
                between(*people[:2], attitude=5, description="first"),
                between(*people[1::-1], description="second"),
            ]
        )
    )
    assert [result["relationship"]["description"] for result in payload["results"]] == [
        "first",
        "second",
    ]
    assert payload["results"][1]["relationship"]["from_name"] == "Bo"
    [stored] = await database.assert_current()
    assert (stored["description"], stored["attitude"], stored["version"]) == ("second", 5, 2)


async def test_each_invalid_change_has_its_own_error(tools: Toolset, people: list[str]) -> None:
    succeeded(
        await tools.create_relationships(
            relationships=[between(*people[:2], relationship_type="friend")]
        )
    )
    payload = succeeded(
        await tools.update_relationships(
            relationships=[
                between(*people[:2]),
                between(*people[2:], attitude=1),
                between(*people[:2], clear=["notes"]),
                between(*people[:2], attitude=1),
            ]
        )
    )
    nothing, missing, clear, good = payload["results"]
    assert error_of(nothing).startswith("Nothing to change")
    assert error_of(missing).startswith("Relationship not found between Cy")
    assert error_of(clear) == "clear must contain only attitude, proximity and when, got 'notes'"
    assert good["relationship"]["attitude"] == 1


async def test_an_invalid_list_is_an_error(tools: Toolset) -> None:
    for relationships, said in (
        ([], "relationships must not be empty"),
        ([{}] * 501, "relationships must have at most 500 items"),
        ([7], "relationships.0 must be an object, got 7"),
        ([{"from_entity_key": "a"}], "relationships.0.to_entity_key is missing"),
    ):
        assert error_of(await tools.create_relationships(relationships=relationships)).startswith(
            said
        )
