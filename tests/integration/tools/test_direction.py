"""A relationship whose creator named its ends in the reverse of the canonical order, or is asked
for from its end.
"""

import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person, persons, relate


async def test_searches_return_the_stored_direction(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    bread, ada = await node(tools, "Concept", "Bread"), await person(tools, "Ada")
    await relate(tools, bread, ada, "baked by")
    [match] = await graph.retrieval.relationship_vector_search("baked by", 0.2, user_id=user_id)
    assert (match.from_name, match.relationship_type, match.to_name) == ("Bread", "baked by", "Ada")
    answer = await tools.explore(queries=["baked by"])
    assert [(edge["from_name"], edge["to_name"]) for edge in answer["edges"]] == [("Bread", "Ada")]
    answer = await tools.explore(queries=["baked by"], format="text")
    assert "Bread (Concept) -[baked by]-> Ada (Person)" in answer["text"]
    assert answer["message"] == "Found 2 nodes and 1 relationship"
    for ends in ((bread, ada), (ada, bread)):
        returned = (await tools.get_relationship(from_entity_key=ends[0], to_entity_key=ends[1]))[
            "relationship"
        ]
        assert (returned["from_entity_key"], returned["to_entity_key"]) == ends


MENTOR = "Tom mentor Felix"


@pytest.fixture
async def felix_first(tools: Toolset) -> dict[str, str]:
    """A relationship from Tom to Felix; the keys as arguments in the opposite order."""
    tom, felix = await persons(tools, "Tom", "Felix")
    created = await relate(tools, tom, felix, "mentor")
    assert created["triplet"] == MENTOR
    assert created["message"] == "Created relationship mentor between Tom and Felix"
    return {"from_entity_key": felix, "to_entity_key": tom}


def turned(ends: dict[str, str]) -> dict[str, str]:
    return {"from_entity_key": ends["to_entity_key"], "to_entity_key": ends["from_entity_key"]}


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_relationship", {}),
    ("update_relationship", {"attitude": 4}),
    ("add_note_to_relationship", {"content": "They met in May"}),
    ("delete_relationship", {}),
    ("restore", {}),
]


async def test_every_result_states_the_direction_if_the_ends_were_given_in_the_opposite_order(
    tools: Toolset, felix_first: dict[str, str]
) -> None:
    for name, more in CALLS:
        answer = succeeded(await tools[name](**felix_first, **more))
        assert answer["triplet"] == MENTOR, name
        assert answer["message"].endswith(". Its direction is from Tom to Felix"), name
        assert (answer["relationship"]["from_name"], answer["relationship"]["to_name"]) == (
            "Felix",
            "Tom",
        )
    for name, more in CALLS:
        answer = succeeded(await tools[name](**turned(felix_first), **more))
        assert answer["triplet"] == MENTOR, name
        assert "Its direction" not in answer["message"], name


def refused(felix_first: dict[str, str]) -> str:
    """The error, with the nodes in the direction of the relationship."""
    felix, tom = (key[:12] for key in felix_first.values())
    return (
        "The relationship exists in the opposite direction: 'Tom mentor Felix'. Nothing was "
        "stored. Repeat it with "
        f"{json.dumps({'from': tom, 'to': felix})}, without relationship_type or with one that "
        f"reads from Tom to Felix"
    )


async def test_a_type_given_in_the_opposite_order_never_replaces_the_stored_one(
    tools: Toolset, felix_first: dict[str, str]
) -> None:
    """It would turn "Tom mentor Felix" into "Tom student of Felix", which is false."""
    change = {"relationship_type": "student of", "attitude": 2, "notes": ["They met in May."]}
    assert error_of(await tools.update_relationship(**felix_first, **change)) == refused(
        felix_first
    )
    felix, tom = felix_first.values()
    item = {"from": felix, "to": tom, "relationship_type": "student of", "replaces": True}
    assert refused(felix_first) in error_of(await tools.remember(relationships=[item]))
    stored = succeeded(await tools.get_relationship(**felix_first))["relationship"]
    assert not {"attitude", "notes"} & stored.keys()
    by_name = {
        "from_entity_key": "felix",
        "to_entity_key": "Tom",
        "relationship_type": "student of",
    }
    assert error_of(await tools.update_relationship(**by_name)) == refused(felix_first)
    ends = json.loads(refused(felix_first).split("with ")[1].split("}")[0] + "}")
    succeeded(await tools.update_relationship(**ends, relationship_type="teacher of"))
    assert (
        succeeded(await tools.get_relationship(**felix_first))["triplet"] == "Tom teacher of Felix"
    )


@pytest.mark.parametrize(
    ("item", "note"),
    [
        ({"relationship_type": "student of"}, "Felix student of Tom"),
        ({"relationship_type": "mentor", "when": "2021"}, "Felix mentor Tom"),
        (
            {"relationship_type": "learns-from", "description": "They meet on Mondays."},
            "Felix learns-from Tom: They meet on Mondays.",
        ),
        (
            {"relationship_type": "student_of", "description": "Felix is a Student of Tom."},
            "Felix is a Student of Tom.",
        ),
    ],
)
async def test_a_statement_in_the_other_direction_is_kept_as_a_note_that_says_it_in_full(
    tools: Toolset, felix_first: dict[str, str], item: dict[str, str], note: str
) -> None:
    felix, tom = felix_first.values()
    stated = {"from": felix, "to": tom, **item}
    answer = succeeded(await tools.remember(relationships=[stated], said_on="2024-06"))
    assert answer["notes_added"] == 1
    assert any(
        hint.endswith(f"because the relationship has the opposite direction: '{MENTOR}'")
        for hint in answer["hints"]
    )
    known = succeeded(await tools.get_relationship(**felix_first))
    assert known["triplet"] == MENTOR
    [kept] = known["relationship"]["notes"]
    assert (kept["content"], kept["when"]) == (note, item.get("when", "2024-06"))
    assert not {"description", "when"} & known["relationship"].keys()
    again = succeeded(await tools.remember(relationships=[stated], said_on="2024-06"))
    assert again["relationships"]["unchanged"] == 1


async def test_notes_given_with_the_stored_type_in_the_wrong_order_are_added(
    tools: Toolset, felix_first: dict[str, str]
) -> None:
    felix, tom = felix_first.values()
    item = {"from": felix, "to": tom, "relationship_type": "Mentor", "notes": ["They met in June."]}
    answer = succeeded(await tools.remember(relationships=[item]))
    assert answer["notes_added"] == 1
    assert "Only the notes were stored, not 'Felix Mentor Tom'" in " ".join(answer["hints"])


async def test_a_type_that_reads_the_same_in_both_directions_is_accepted_in_either_order(
    tools: Toolset, felix_first: dict[str, str]
) -> None:
    assert succeeded(await tools.update_relationship(**felix_first, relationship_type="Friends"))[
        "success"
    ]
    felix, tom = felix_first.values()
    item = {"from": felix, "to": tom, "relationship_type": "Close_friend"}
    assert succeeded(await tools.remember(relationships=[item]))["relationships"]["updated"] == 1
    assert (
        succeeded(await tools.get_relationship(**felix_first))["triplet"]
        == "Tom friends, close friend Felix"
    )
