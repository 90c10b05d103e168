"""get_relationship with between: what happened to a node, with whom, in order of time."""

import re

import pytest

from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import remembered

RACE, LUNCH, MOVE = "Won the second regatta.", "Had lunch in the harbor.", "Moved to Bergen."


@pytest.fixture
async def ada(tools: Toolset) -> str:
    """Ada, who works at Delft and is a friend of Bo, with dated notes in another order than that of
    time.
    """
    keys = await remembered(
        tools,
        [
            {
                "label": "Person",
                "name": "Ada",
                "notes": [{"content": MOVE, "when": "2021~"}, "Likes rowing."],
            },
            {"label": "Person", "name": "Bo"},
            {"label": "Entity", "name": "Delft"},
        ],
        [
            {
                "from": "Ada",
                "to": "Bo",
                "relationship_type": "friend",
                "notes": [{"content": LUNCH, "when": "2023-02"}],
            },
            {
                "from": "Ada",
                "to": "Delft",
                "relationship_type": "works at",
                "when": "2020/2022",
                "description": "Designs hulls.",
                "notes": [{"content": RACE, "when": "2022-05-02"}],
            },
        ],
    )
    return keys["Ada"]


async def test_a_timeline_has_a_line_for_each_dated_statement_in_order_of_time_with_whom(
    tools: Toolset, ada: str
) -> None:
    answer = await tools["get_relationship"].call_text({"from_entity_key": ada, "between": "../.."})
    assert re.sub(r" [0-9a-f-]{12}\)", ")", answer.text).splitlines() == [
        "4 dated statements about Ada in ../..; 1 note without a date",
        "2020/2022, past: Ada (Person) -[works at]-> Delft (Entity): Designs hulls.",
        f"2021~: {MOVE}",
        f"2022-05-02 Delft: {RACE}",
        f"2023-02 Bo (Person): {LUNCH}",
    ]


async def test_between_selects_the_statements_that_overlap_it_those_that_began_earlier_last(
    tools: Toolset, ada: str
) -> None:
    payload = succeeded(await tools.get_relationship(from_entity_key=ada, between="2022/2023-01"))
    assert [(one["when"], one["with"]["name"]) for one in payload["statements"]] == [
        ("2022-05-02", "Delft"),
        ("2020/2022", "Delft"),
    ]
    error = error_of(await tools.get_relationship(from_entity_key=ada, between="lately"))
    assert "must be a date or a period such as" in error
    pair = {"from_entity_key": ada, "to_entity_key": "Delft"}
    shown = succeeded(await tools.get_relationship(**pair, between="2022"))["relationship"]
    assert [note["content"] for note in shown["notes"]] == [RACE]
    assert (
        "notes"
        not in succeeded(await tools.get_relationship(**pair, between="2021"))["relationship"]
    )


async def test_a_long_timeline_is_complete_over_its_pages(tools: Toolset, ada: str) -> None:
    notes = [
        {
            "content": f"Sailed leg {day} of the long race along the coast.",
            "when": f"2024-05-{day:02}",
        }
        for day in range(1, 31)
    ]
    succeeded(
        await tools.add_note_to_relationship(from_entity_key="Ada", to_entity_key="Bo", notes=notes)
    )
    seen: list[str] = []
    given = {"from_entity_key": ada, "between": "2024", "token_budget": 200}
    cursor: dict[str, str] = {}
    while True:
        text = (await tools["get_relationship"].call_text(given | cursor)).text
        seen += re.findall(r"^2024-05-\d\d", text, re.MULTILINE)
        if not (more := re.search(r'cursor "([^"]+)"', text)):
            break
        cursor = {"cursor": more[1]}
    assert cursor
    assert seen == [note["when"] for note in notes]
