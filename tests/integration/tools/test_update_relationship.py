from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support import facts
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person, persons, relate, two_friends
from tests.support.stored import Database

FIRST = {
    "relationship_type": "friend",
    "description": "They row together",
    "attitude": 4,
    "proximity": 3,
}


@pytest.mark.parametrize(
    ("change", "now_found_by"),
    [
        ({"description": "He taught her botany"}, "botany"),
        ({"relationship_type": "mentor"}, "mentor"),
        ({"attitude": 1}, "hostile"),
        ({"proximity": "STRANGER"}, "stranger"),
    ],
)
async def test_each_change_of_a_field_embeds_again_once_and_changes_search_results(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    user_id: str,
    change: dict[str, object],
    now_found_by: str,
) -> None:
    ends = await two_friends(tools, **FIRST)
    before = await graph.retrieval.relationship_vector_search(now_found_by, -1.0, user_id=user_id)
    embedder.forget()
    payload = succeeded(await tools.update_relationship(**ends, **change))
    assert payload["message"] == "Updated relationship between Ada and Bo"
    assert payload["embedding_regenerated"] is True
    assert len(embedder.stored) == 1
    assert now_found_by in embedder.stored[0][0]
    after = await graph.retrieval.relationship_vector_search(now_found_by, -1.0, user_id=user_id)
    assert after[0].similarity > before[0].similarity + 0.1
    [stored] = await database.assert_current()
    assert stored["version"] == 2


KEPT = "Kept description: 'They row together'; check that it still holds"


async def test_a_description_that_was_kept_beside_a_new_type_or_level_is_shown(
    tools: Toolset,
) -> None:
    ends = await two_friends(tools, description="They row together", attitude=4, proximity=2)
    changes: list[tuple[dict[str, Any], bool]] = [
        ({"relationship_type": "rival"}, True),
        ({"attitude": 1}, True),
        ({"attitude": 2, "description": "They row together"}, False),
        ({"confidence": 0.4, "notes": ["They met in Rome"]}, False),
    ]
    for change, is_kept in changes:
        answer = await tools.update_relationship.call_text({**ends, **change})
        assert (KEPT in answer.text.splitlines()) == is_kept
        assert answer.payload.get("hint") == (KEPT if is_kept else None)


async def test_what_was_replaced_is_shown(tools: Toolset) -> None:
    ends = await two_friends(tools, description="They row", attitude=4)
    change = {"relationship_type": "rival", "attitude": "hostile", "description": "They quarrel"}
    answer = await tools.update_relationship.call_text({**ends, **change})
    replaced = {"relationship_type": "friend", "attitude": "friendly", "description": "They row"}
    assert answer.payload["replaced"] == replaced
    text = "Replaced: relationship_type 'friend', attitude 'friendly', description 'They row'"
    assert text in answer.text.splitlines()
    again = succeeded(await tools.update_relationship(**ends, attitude="hostile"))
    assert "replaced" not in again


async def test_the_same_text_makes_no_embedding_call_and_no_write(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, **FIRST)
    embedder.forget()
    other_spellings = {
        "description": " They row together ",
        "attitude": "FRIENDLY",
        "proximity": "3",
    }
    for same in (FIRST, other_spellings):
        payload = succeeded(await tools.update_relationship(**ends, **same))
        assert (payload["message"], payload["embedding_regenerated"]) == ("Nothing changed", False)
    assert embedder.calls == 0
    assert (await database.relationship())["version"] == 1


async def test_fields_outside_the_text_are_written_without_an_embedding_call(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, **FIRST)
    embedder.forget()
    payload = succeeded(await tools.update_relationship(**ends, confidence=0.3, salience=1))
    assert payload["embedding_regenerated"] is False
    assert payload["relationship"]["properties"]["confidence"] == 0.3
    assert embedder.calls == 0
    [stored] = await database.assert_current()
    assert (stored["confidence"], stored["salience"], stored["version"]) == (0.3, 1.0, 2)


async def test_attitude_proximity_and_description_can_be_cleared(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, **FIRST)
    embedder.forget()
    payload = succeeded(
        await tools.update_relationship(**ends, description="", clear=["attitude", "proximity"])
    )
    assert (
        not {"attitude", "attitude_word", "proximity", "description"}
        & payload["relationship"].keys()
    )
    assert embedder.stored == [["friend", FIRST["description"]]]
    [stored] = await database.assert_current()
    assert not {"attitude", "proximity"} & stored.keys()


async def test_the_reverse_order_finds_the_same_relationship(tools: Toolset) -> None:
    ada, chess = await person(tools, "Ada"), await node(tools, "Concept", "Chess")
    await relate(tools, ada, chess, "plays")
    shown = succeeded(
        await tools.update_relationship(
            from_entity_key=chess, to_entity_key=ada, attitude="passionate"
        )
    )["relationship"]
    assert (shown["from_entity_key"], shown["to_entity_key"]) == (chess, ada)
    assert (shown["from_name"], shown["to_name"]) == ("Chess", "Ada")
    same = succeeded(await tools.get_relationship(from_entity_key=ada, to_entity_key=chess))[
        "relationship"
    ]
    assert (same["from_name"], same["attitude"]) == ("Ada", 5)


async def test_a_relationship_that_does_not_exist_is_named(tools: Toolset) -> None:
    first, second = await persons(tools, "Ada", "Bo")
    error = error_of(
        await tools.update_relationship(from_entity_key=first, to_entity_key=second, attitude=1)
    )
    assert error == f"Relationship not found between Ada ({first[:12]}) and Bo ({second[:12]})"


async def test_a_wrong_value_is_named_and_changes_nothing(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools, **FIRST)
    for wrong, said in (
        (
            {},
            "Nothing to change: give description, relationship_type, attitude, proximity, when or "
            "notes",
        ),
        ({"clear": ["notes"]}, "clear must contain only attitude, proximity and when, got 'notes'"),
        ({"clear": ["attitude"], "attitude": 3}, "attitude cannot be both set and cleared"),
        ({"attitude": 0}, "Attitude/proximity must be 1-5, got attitude 0"),
        ({"notes": [{"lifetime": "week"}]}, "notes.0.content is missing"),
    ):
        assert error_of(await tools.update_relationship(**ends, **wrong)).startswith(said)
    assert (await database.relationship())["version"] == 1


async def test_the_next_write_removes_an_expired_note_from_the_text(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, clock: Clock
) -> None:
    ends = await two_friends(
        tools, **FIRST, notes=[{"content": "Ill with flu", "lifetime": "week"}]
    )
    clock.forward(days=7)
    embedder.forget()
    payload = succeeded(await tools.update_relationship(**ends, confidence=0.5))
    assert payload["embedding_regenerated"] is True
    assert embedder.stored == [["They row together friend friendly familiar"]]
    [stored] = await database.assert_current()
    assert "Ill with flu" in stored["notes"]


@pytest.mark.parametrize("change", [{"attitude": 2}, {"description": "They row together"}])
async def test_the_first_write_removes_the_old_fields_and_embeds(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, change: dict[str, object]
) -> None:
    first, second = await persons(tools, "Ada", "Bo")
    await database.run(
        "MATCH (a:Person {entity_key: $first}), (b:Person {entity_key: $second}) CREATE "
        "(a)-[:has_relationship_with "
        "{relationship_type: 'friend', description: 'They row together', attitude: 4, notes: '[]', "
        "relation_embedding: [0.1, 0.2], notes_embedding: [0.3], description_embedding: "
        "'broken'}]->(b)",
        first=first,
        second=second,
    )
    embedder.forget()
    payload = succeeded(
        await tools.update_relationship(from_entity_key=second, to_entity_key=first, **change)
    )
    assert payload["embedding_regenerated"] is True
    assert len(embedder.stored) == 1
    [stored] = await database.assert_current()
    assert not set(facts.OLD_FIELDS) & stored.keys()
    assert stored["version"] == 1
    assert stored["relationship_key"]


async def test_old_fields_are_removed_even_if_nothing_else_changes(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, **FIRST)
    await database.run(
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.relation_embedding = [0.1, 0.2]"
    )
    embedder.forget()
    succeeded(await tools.update_relationship(**ends, attitude=4))
    assert "relation_embedding" not in await database.relationship()
    assert embedder.calls == 0
