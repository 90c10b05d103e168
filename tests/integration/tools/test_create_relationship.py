from typing import Any

import pytest

from kgagent.tools import Toolset
from tests.support import facts
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of
from tests.support.people import node, person, persons, relate, remembered, two_friends
from tests.support.stored import (
    Database,
)

ALL_FIELDS: dict[str, Any] = {
    "relationship_type": "mentor",
    "description": "User's mentor from college who provides career guidance",
    "attitude": 5,
    "proximity": "known-well",
    "notes": ["They meet monthly for coffee", "Helped user get first job"],
}


async def test_a_relationship_is_embedded_when_it_is_created(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    first, second = await persons(tools, "Ada", "Bo")
    embedder.forget()
    payload = await relate(tools, first, second, **ALL_FIELDS)
    assert embedder.stored == [
        [
            "User's mentor from college who provides career guidance mentor close known-well "
            "They meet monthly for coffee Helped user get first job",
            "User's mentor from college who provides career guidance mentor close known-well",
            "They meet monthly for coffee",
            "Helped user get first job",
        ]
    ]
    assert payload["message"] == "Created relationship mentor between Ada and Bo"
    assert payload["embedding_regenerated"] is True
    shown = payload["relationship"]
    assert (shown["from_entity_key"], shown["to_entity_key"]) == (first, second)
    assert (shown["attitude"], shown["attitude_word"]) == (5, "close")
    assert (shown["proximity"], shown["proximity_word"]) == (4, "known-well")
    [stored] = await database.assert_current()
    assert stored["version"] == 1
    assert stored["neo4j_type"] == "has_relationship_with"


async def test_a_new_relationship_has_the_defaults_of_the_documents(
    tools: Toolset, database: Database
) -> None:
    await two_friends(tools, salience=0.9)
    stored = await database.relationship()
    expected = {**facts.RELATIONSHIP_DEFAULTS, "salience": 0.9}
    assert {name: stored[name] for name in expected} == expected
    assert "valid_to" not in stored
    assert "last_accessed_at" not in stored


@pytest.mark.parametrize("reverse", [False, True])
async def test_each_pair_of_labels_is_stored_in_its_direction_and_returned_as_requested(
    tools: Toolset, database: Database, reverse: bool
) -> None:
    pairs = facts.PAIRS | facts.SOURCE_PAIRS
    nodes = [
        {"label": label, "name": f"{label} {place} of {kind}", "description": kind}
        for pair, kind in pairs.items()
        for place, label in enumerate(pair)
    ]
    keys = iter((await remembered(tools, nodes)).values())
    expected = {}
    for pair, neo4j_type in pairs.items():
        canonical = [next(keys), next(keys)]
        asked = canonical[::-1] if reverse else canonical
        words = (facts.WORDS | facts.SOURCE_WORDS)[neo4j_type]
        shown = (await relate(tools, *asked, attitude=words["attitude"][3].upper(), proximity=2))[
            "relationship"
        ]
        assert [shown["from_entity_key"], shown["to_entity_key"]] == asked
        assert shown["from_name"].split()[1] == ("1" if reverse else "0")
        assert (shown["attitude"], shown["proximity_word"]) == (4, words["proximity"][1])
        expected[neo4j_type] = asked if pair[0] == pair[1] else canonical
    stored = await database.relationships()
    assert {each["neo4j_type"]: [each["first"], each["second"]] for each in stored} == expected


@pytest.mark.parametrize("reverse", [False, True])
async def test_a_second_one_between_the_same_nodes_is_refused_from_either_end(
    tools: Toolset, database: Database, reverse: bool
) -> None:
    ends = list(
        (
            await two_friends(
                tools, description="They row", attitude=4, notes=["Met in May"] * reverse
            )
        ).values()
    )
    first, second = reversed(ends) if reverse else ends
    error = error_of(
        await tools.create_relationship(
            from_entity_key=first, to_entity_key=second, relationship_type="rival"
        )
    )
    names = {ends[0]: f"Ada ({ends[0][:12]})", ends[1]: f"Bo ({ends[1][:12]})"}
    assert error == (
        f"Relationship already exists between {names[first]} and {names[second]}. Use "
        f"update_relationship tool to "
        "modify existing relationships instead of creating duplicates. "
        f"It is: Ada friend Bo: They row (attitude 4, {'1 note' if reverse else '0 notes'})"
    )
    assert (await database.relationship())["relationship_type"] == "friend"


async def test_missing_nodes_are_named(tools: Toolset) -> None:
    known = await person(tools, "Ada")
    for first, named in ((known, "ghost"), ("spirit", "spirit, ghost")):
        ends = {"from_entity_key": first, "to_entity_key": "ghost"}
        error = error_of(await tools.create_relationship(**ends, relationship_type="friend"))
        assert error == f"Node not found: {named}" + WHERE_KEYS_ARE
    itself = {"from_entity_key": known, "to_entity_key": known}
    error = error_of(await tools.create_relationship(**itself, relationship_type="friend"))
    assert error == f"A relationship joins two different nodes, got Ada ({known[:12]}) twice"


async def test_a_wrong_value_is_named_and_writes_nothing(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    first, second = await persons(tools, "Ada", "Bo")
    embedder.forget()
    friend = {"from_entity_key": first, "to_entity_key": second, "relationship_type": "friend"}
    for wrong, said in (
        (
            {"neo4j_type": "KNOWS"},
            "Unsupported relationship type: KNOWS. Known types: has_relationship_with",
        ),
        (
            {"neo4j_type": "x`]-() DETACH DELETE r //"},
            "Unsupported relationship type: x`]-() DETACH DELETE r //",
        ),
        ({"attitude": 6}, "Attitude/proximity must be 1-5, got attitude 6"),
        (
            {"attitude": "very_positive"},
            'Invalid word "very_positive" for relationship type "has_relationship_with"',
        ),
        ({"confidence": 1.5}, "confidence must be at most 1, got 1.5"),
        ({"relationship_type": "x" * 201}, "relationship_type must have at most 200 characters"),
        (
            {"notes": [{"content": "x", "lifetime": "decade"}]},
            "lifetime must be one of week, month, year, forever",
        ),
        ({"user_id": "someone else"}, "unknown argument user_id"),
    ):
        assert error_of(await tools.create_relationship(**{**friend, **wrong})).startswith(said)
    assert await database.relationships() == []
    assert embedder.calls == 0


async def test_an_error_about_unconnectable_labels_lists_the_pairs_that_exist(
    tools: Toolset,
) -> None:
    talk, book = [
        await node(tools, "Source", "A talk", text) for text in ("About chess", "About boats")
    ]
    error = error_of(
        await tools.create_relationship(
            from_entity_key=talk, to_entity_key=book, relationship_type="mentions"
        )
    )
    assert error.startswith(
        "No relationship type connects Source and Source. Available pairs: Person-Person"
    )


async def test_the_database_itself_refuses_a_second_one(tools: Toolset, database: Database) -> None:
    await two_friends(tools)
    stored = await database.relationship()
    with pytest.raises(Exception, match="violates a uniqueness constraint"):
        await database.run(
            "MATCH (a:Person|Concept {entity_key: $first}), (b:Person|Concept {entity_key: "
            "$second}) "
            "CREATE (b)-[:has_relationship_with {user_id: $user, relationship_key: $key}]->(a)",
            first=stored["first"],
            second=stored["second"],
            key=stored["relationship_key"],
        )
