"""Spellings of a name that look alike are one node; the name is kept as it was written."""

import hashlib

import pytest

from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, relate
from tests.support.stored import Database

NFC, NFD = "Caf\u00e9", "Cafe\u0301"
WIDE, ZERO_WIDTH, SPACED = "\uff23\uff41\uff46\u00e9", "Ca\u200bf\u00e9", "Caf\u00e9 \u00a0"
SPELLINGS = [NFC, NFD, WIDE, ZERO_WIDTH, SPACED, "Ca\u200df\u00e9"]


def concept(name: str) -> dict[str, str]:
    return {"label": "Concept", "name": name}


def document_key(name: str, user_id: str) -> str:
    return hashlib.sha256(f"{name.lower()}concept{user_id}".encode()).hexdigest()


async def test_spellings_of_one_call_of_remember_are_one_node(
    tools: Toolset, database: Database, user_id: str
) -> None:
    payload = succeeded(await tools.remember(nodes=[concept(name) for name in SPELLINGS]))
    assert payload["nodes"]["created"] == 1
    [stored] = await database.nodes()
    assert (stored["name"], stored["entity_key"]) == (NFC, document_key(NFC, user_id))


async def test_create_node_finds_other_spellings_and_keeps_the_first(
    tools: Toolset, database: Database, user_id: str
) -> None:
    succeeded(await tools.create_node(**concept(ZERO_WIDTH)))
    for name in SPELLINGS:
        assert "exists already" in error_of(await tools.create_node(**concept(name))), ascii(name)
    succeeded(
        await tools.remember(
            notes=[{"on": name, "content": f"Note {name!a}"} for name in SPELLINGS]
        )
    )
    [stored] = await database.nodes()
    assert stored["name"] == ZERO_WIDTH.replace("\u200b", "")
    assert stored["entity_key"] == document_key(NFC, user_id)
    succeeded(await tools.create_node(**concept("Hobson\u2019s choice")))
    assert "is the Concept" in error_of(await tools.create_node(**concept("Hobson's choice")))


@pytest.mark.parametrize("first", [NFD, ZERO_WIDTH])
async def test_a_node_with_a_key_of_the_name_as_written_is_found_as_before(
    tools: Toolset, database: Database, user_id: str, first: str
) -> None:
    created = succeeded(await tools.create_node(**concept(first)))["entity_key"]
    earlier = document_key(first.replace("\u200b", ""), user_id)
    await database.run(
        "MATCH (n:Person|Concept {user_id: $user, entity_key: $key}) SET n.entity_key = $earlier",
        key=created,
        earlier=earlier,
    )
    error_of(await tools.create_node(**concept(first)))
    payload = succeeded(await tools.remember(nodes=[{**concept(first), "notes": ["Open."]}]))
    assert payload["nodes"]["updated"] == 1
    [stored] = await database.nodes()
    assert stored["entity_key"] == earlier


async def test_a_name_of_invisible_characters_is_refused(tools: Toolset) -> None:
    assert "must contain a visible character" in error_of(
        await tools.create_node(**concept("\u200b\ufeff"))
    )


@pytest.mark.parametrize(
    ("stored", "other"),
    [("Sinéad O\u2019Brien", "Sinéad O'Brien"), ("Liam O'Neill", "Liam O\u2019Neill")],
)
async def test_a_name_with_another_apostrophe_is_the_same_name_in_every_tool(
    tools: Toolset, database: Database, stored: str, other: str
) -> None:
    key, friend = await person(tools, stored), await person(tools, "Ada")
    payload = succeeded(
        await tools.remember(nodes=[{"label": "Person", "name": other, "description": "Sails."}])
    )
    assert payload["nodes"] == {**payload["nodes"], "created": 0, "updated": 1}
    await relate(tools, other, friend)
    assert succeeded(await tools.get_relationship(from_entity_key=other, to_entity_key=friend))[
        "triplet"
    ]
    surname = other.split()[1]
    assert (
        succeeded(await tools.update_node(entity_key=surname, description="x"))["node"][
            "entity_key"
        ]
        == key
    )
    explored = succeeded(await tools.explore(text_matches=[other]))
    assert [node["entity_key"] for node in explored["nodes"]] == [key]
    found = succeeded(await tools.hybrid_search(query=f"Who is {surname}?", threshold=0.99))
    assert key in [item["entity_key"] for item in found["objects"]]
    assert len(await database.nodes()) == 2
