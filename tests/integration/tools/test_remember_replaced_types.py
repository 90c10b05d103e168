"""remember with another type for a relationship: what it stated before stays as a note."""

from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.people import node, person, relate
from tests.support.stored import Database, note_contents


async def test_the_replaced_type_stays_as_a_note(tools: Toolset, database: Database) -> None:
    lena, clinic = await person(tools, "Lena"), await node(tools, "Entity", "Rehazentrum")
    await relate(tools, lena, clinic, "works at", description="Physiotherapist since 2019.", attitude=4)
    patient = {"from": "Lena", "to": "Rehazentrum", "relationship_type": "patient at", "notes": ["Knee."]}
    answer = await tools["remember"].call_text(
        {"relationships": [{**patient, "description": "Treated for her knee.", "attitude": 3}]}
    )
    assert answer.text.splitlines() == [
        "Relationships: 1 updated. 2 notes added",
        "Replaced: Lena patient at Rehazentrum, attitude: was 'favorable'",
        "Kept as a note: Formerly: Lena works at Rehazentrum. Physiotherapist since 2019.",
    ]
    [relationship] = await database.assert_current()
    assert note_contents(relationship) == ["Formerly: Lena works at Rehazentrum. Physiotherapist since 2019.", "Knee."]
    repeated = await tools["remember"].call_text({"relationships": [patient]})
    assert repeated.text == "Relationships: 1 unchanged"


async def test_each_type_of_one_call_is_kept_once(tools: Toolset, database: Database) -> None:
    lena, clinic = await person(tools, "Lena"), await node(tools, "Entity", "Rehazentrum")
    await relate(tools, lena, clinic, "works at", description="In Kassel.")
    types = ("Works At", "patient at", "works at", "patient at", "volunteers at")
    ends = {"from": "Lena", "to": "Rehazentrum"}
    succeeded(await tools.remember(relationships=[{**ends, "relationship_type": one} for one in types]))
    [relationship] = await database.relationships()
    assert (relationship["relationship_type"], relationship["description"]) == ("volunteers at", "In Kassel.")
    assert note_contents(relationship) == [
        "Formerly: Lena Works At Rehazentrum. In Kassel.",
        "Formerly: Lena patient at Rehazentrum. In Kassel.",
        "Formerly: Lena works at Rehazentrum. In Kassel.",
    ]


async def test_update_relationship_corrects_a_type_without_a_note(tools: Toolset, database: Database) -> None:
    lena, clinic = await person(tools, "Lena"), await node(tools, "Entity", "Rehazentrum")
    await relate(tools, lena, clinic, "works at")
    ends = {"from_entity_key": lena, "to_entity_key": clinic}
    succeeded(await tools.update_relationship(**ends, relationship_type="worked at"))
    [relationship] = await database.relationships()
    assert note_contents(relationship) == []
