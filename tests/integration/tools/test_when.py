"""The time of statements: `when` of notes and relationships, and the date of a whole call."""

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import two_friends
from tests.support.stored import Database, indexed_statements


async def days(graph: KnowledgeGraph, user_id: str) -> dict[str, tuple[int | None, int | None]]:
    """The first and the last day of each entry of a relationship in the index of statements, by its
    text.
    """
    entries = await indexed_statements(graph, user_id)
    return {
        one["text"]: (one["when_earliest"], one["when_latest"])
        for one in entries
        if "to_entity_key" in one
    }


async def test_notes_of_a_call_have_its_date_unless_they_have_their_own(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    ends = list((await two_friends(tools)).values())
    friend = {
        "from": ends[0],
        "to": ends[1],
        "relationship_type": "friend",
        "when": "2019/..",
        "notes": ["They row."],
    }
    payload = succeeded(
        await tools.remember(
            nodes=[
                {"label": "Source", "name": "A talk", "ref": "talk", "description": "They talked."}
            ],
            relationships=[friend],
            notes=[
                {"on": ends, "content": "They met.", "when": "about 2019"},
                {"on": ends, "content": "They dined.", "date": "2023-02"},
                {"on": ends, "content": "They flew.", "when": "last Friday"},
            ],
            said_on="2023-02-04",
            source="talk",
        )
    )
    [failed] = payload["failures"]
    assert "must be a date or a period such as 2023-02-04" in failed["error"]
    assert await days(graph, user_id) == {
        "": (20190101, 99991231),
        "They row.": (20230204, 20230204),
        "They met.": (20190101, 20191231),
        "They dined.": (20230201, 20230228),
    }
    shown = succeeded(await tools.get_relationship(from_entity_key=ends[0], to_entity_key=ends[1]))[
        "relationship"
    ]
    assert shown["when"] == "2019/.."
    assert {note["content"]: note["when"] for note in shown["notes"]} == {
        "They row.": "2023-02-04",
        "They met.": "2019~",
        "They dined.": "2023-02",
    }
    said = {note["content"]: note.get("said_on") for note in shown["notes"]}
    assert said == {"They row.": None, "They met.": "2023-02-04", "They dined.": "2023-02-04"}
    assert len({note["source_entity_key"] for note in shown["notes"]}) == 1
    stored = await database.relationship()
    assert (stored["when_earliest"], stored["when_latest"]) == (20190101, 99991231)
    await database.assert_current()


async def test_a_corrected_note_has_the_times_of_the_correction(tools: Toolset) -> None:
    ends = await two_friends(tools, notes=["They sail."])
    [ada, bo] = ends.values()
    for when, shown in (("2022-05", "2022-05, said 2022-04-21"), (None, "2022-04-21")):
        edit = {"on": [ada, bo], "replaces": "They sail", "content": "They sail far.", "when": when}
        succeeded(await tools.remember(notes=[edit], said_on="2022-04-21"))
        text = (await tools["get_relationship"].call_text(ends)).text
        assert f"They sail far. ({shown})" in text


async def test_a_text_shows_when_it_happened_and_not_when_it_was_recorded(tools: Toolset) -> None:
    ends = await two_friends(tools)
    succeeded(await tools.add_note_to_relationship(**ends, content="They sail.", when="2022-05"))
    succeeded(await tools.add_note_to_relationship(**ends, content="They paint."))
    succeeded(await tools.update_relationship(**ends, when="2019/2021"))
    text = (await tools["hybrid_search"].call_text({"query": "who sails or paints?"})).text
    assert "2019/2021" in text
    assert "They sail. (2022-05)" in text
    assert "They paint. (" not in text


async def test_a_new_time_of_a_note_changes_its_entry_without_an_embedding_call(
    tools: Toolset, graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str
) -> None:
    ends = await two_friends(tools, notes=["They sail."])
    embedder.forget()
    succeeded(await tools.update_note(**ends, note="They sail.", when="2021"))
    assert embedder.calls == 0
    assert await days(graph, user_id) == {"": (0, -1), "They sail.": (20210101, 20211231)}
    assert "must be a date" in error_of(
        await tools.update_note(**ends, note="They sail.", when="soon")
    )


async def test_a_note_that_has_expired_does_not_rank_its_record(
    tools: Toolset, clock: Clock
) -> None:
    ends = await two_friends(tools)
    succeeded(await tools.add_note_to_relationship(**ends, content="They sail.", lifetime="week"))
    query = {"query": "They sail.", "threshold": -1, "format": "json"}
    [found] = succeeded(await tools.hybrid_search(**query))["relationships"]
    assert "statement_fulltext" in found["found_by"]
    clock.forward(days=8)
    [later] = succeeded(await tools.hybrid_search(**query))["relationships"]
    assert "statement_fulltext" not in later["found_by"]
    assert later["score"] < found["score"]
