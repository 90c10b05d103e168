"""Loading files that other programs wrote: made-up samples in the forms that these programs
document.
"""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.files import LoadCounts, LoadReport
from tests.support.people import person
from tests.support.stored import nodes_of, note_contents, relationships_of

SAMPLES = Path(__file__).parent / "samples"
Load = Callable[..., Awaitable[LoadReport]]


@pytest.fixture
def load(graph: KnowledgeGraph, user_id: str) -> Load:
    """Loads samples for the test's user; nodes of other types are entities."""

    async def run(*names: str, label: str | None = "Entity") -> LoadReport:
        return await graph.load(*(SAMPLES / name for name in names), user_id=user_id, label=label)

    return run


async def stored(graph: KnowledgeGraph, user_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The nodes by name, and the relationships by type."""
    nodes = {node["name"]: node for node in await nodes_of(graph, user_id)}
    return nodes, {one["relationship_type"]: one for one in await relationships_of(graph, user_id)}


def problems(report: LoadReport) -> list[str]:
    return [str(problem) for problem in report.problems]


@pytest.mark.parametrize(
    "names",
    [["memory.jsonl"], ["mem0.json"], ["graphiti.json"], ["people.csv", "plays.csv", "roles.csv"]],
)
async def test_loading_again_changes_nothing(load: Load, names: list[str]) -> None:
    assert (await load(*names)).changed
    assert not (await load(*names)).changed


async def test_the_memory_servers_entities_have_their_observations_as_notes(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    report = await load("memory.jsonl")
    assert (report.nodes, report.relationships) == (LoadCounts(created=2), LoadCounts(created=1))
    nodes, relationships = await stored(graph, user_id)
    assert note_contents(nodes["Lena Sommer"]) == [
        "Speaks Portuguese",
        "Prefers calls in the morning",
    ]
    assert nodes["Harbor Bakery"]["entity_type"] == "organization"
    assert relationships["works at"]["neo4j_type"] == "associated_with"
    first, second = problems(report)
    assert first == "line 4: not understood: an object with name, type"
    assert second.startswith("line 5: ")
    assert "Nobody" in second


async def test_a_type_that_is_no_label_is_reported_unless_a_label_is_chosen(load: Load) -> None:
    report = await load("memory.jsonl", label=None)
    assert problems(report)[0] == (
        "line 2: the type organization is no label; choose one with `label` (--label): Person, "
        "Concept, Entity, Source"
    )
    with pytest.raises(InputError, match="Unknown label: Thing"):
        await load("memory.jsonl", label="Thing")


async def test_memories_of_mem0_are_notes_of_the_owner(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    await person(graph.tools(user_id=user_id), "Tomas Lind", is_owner=True)
    report = await load("mem0.json")
    nodes, relationships = await stored(graph, user_id)
    assert nodes.keys() == {"Tomas Lind", "lisbon", "vera lund", "Messages"}
    messages = nodes["Messages"]
    assert messages["source_text"] == "user: No walnuts, please: I am allergic."
    notes = json.loads(nodes["Tomas Lind"]["notes"])
    assert [note["content"] for note in notes] == [
        "Is allergic to walnuts",
        "Plans a trip to Lisbon",
    ]
    assert notes[0]["source_entity_key"] == messages["entity_key"]
    assert notes[0]["date_added"] == "2024-07-26T17:29:36.630547Z"
    assert {name: one["neo4j_type"] for name, one in relationships.items()} == {
        "plans trip to": "associated_with",
        "lives in": "connected_to",
    }
    assert problems(report) == [
        'results[0]: a message is not text: {"role": "assistant", "content": ["Noted"]}',
        "results[2]: a memory of vera, but the file begins with those of tomas; give each a file",
    ]


async def test_memories_of_mem0_create_the_owner_of_a_new_graph(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    await load("mem0.json")
    nodes, _ = await stored(graph, user_id)
    assert (nodes["tomas"]["is_owner"], len(note_contents(nodes["tomas"]))) == (True, 2)


async def test_facts_of_graphiti_are_dated_notes_of_relationships(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    report = await load("graphiti.json")
    nodes, relationships = await stored(graph, user_id)
    mira = nodes["Mira Okafor"]
    assert (mira["description"], mira["born"]) == ("Mira restores violins.", 1980)
    assert (mira["towns"], nodes["Cremona"]["entity_type"]) == ('["Cremona", "Mirecourt"]', "City")
    [relationship] = relationships.values()
    assert relationship["neo4j_type"] == "associated_with"
    assert relationship["relationship_type"] == "lives in, studied in"
    assert [(note["content"], note["when"]) for note in json.loads(relationship["notes"])] == [
        ("Mira Okafor lives in Cremona.", "2021-05-01/.."),
        ("Mira Okafor studied in Cremona.", "2001-01-01/2004-06-30"),
    ]
    call = nodes["call"]
    assert (call["source_text"], call["said_on"]) == ("Mira told of Cremona.", "2024-03-15")
    sources = {note["source_entity_key"] for note in json.loads(relationship["notes"])}
    assert sources == {call["entity_key"]}
    assert problems(report) == []


async def test_tables_of_neo4js_import_tool_are_loaded_together(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    report = await load("people.csv", "plays.csv", "roles.csv")
    nodes, relationships = await stored(graph, user_id)
    keiko, play = nodes["Mori, Keiko"], nodes["The Lantern"]
    assert (keiko["personId"], keiko["born"], keiko["active"]) == ("keiko", 1971, True)
    assert note_contents(keiko) == ["Carves masks", "Teaches on Mondays"]
    assert "ignored" not in keiko
    assert (play["rating"], play["entity_type"]) == (4.5, "Play, Drama")
    assert (relationships["inspired"]["role"], relationships["inspired"]["attitude"]) == (
        "mask maker",
        5,
    )
    first, second, third = problems(report)
    assert first == "people.csv line 1: the column updated_at is not loaded: the name is reserved"
    assert second == "people.csv line 3: column born: 'nineteen' is no int"
    assert third.startswith("roles.csv line 3: ")


async def test_a_type_of_the_ontology_keeps_its_meaning_in_a_table(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    table = tmp_path / "all.csv"
    table.write_text(":ID,name,:LABEL\n1,Ada,person\n2,Bo,person\n", "utf-8-sig")
    edges = tmp_path / "edges.csv"
    edges.write_text(
        ":START_ID\trelationship_type\t:END_ID\t:TYPE\n1\tmentor\t2\thas_relationship_with\n",
        "utf-8",
    )
    report = await graph.load(table, edges, user_id=user_id)
    assert report.problems == ()
    [relationship] = await relationships_of(graph, user_id)
    assert (relationship["neo4j_type"], relationship["relationship_type"]) == (
        "has_relationship_with",
        "mentor",
    )


async def test_several_files_in_the_format_of_load_name_each_other(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    people, ties = tmp_path / "people.jsonl", tmp_path / "ties.jsonl"
    people.write_text(
        "".join(
            json.dumps({"kind": "node", "label": "Person", "id": name, "name": name}) + "\n"
            for name in "AB"
        ),
        "utf-8",
    )
    tie = {"kind": "relationship", "from": "A", "to": "B", "relationship_type": "friend"}
    ties.write_text(f"{json.dumps(tie)}\n\n{json.dumps({**tie, 'to': 'C'})}\n", "utf-8")
    report = await graph.load(ties, people, user_id=user_id)
    assert (report.nodes.created, report.relationships.created) == (2, 1)
    assert problems(report)[0].startswith("ties.jsonl line 3: ")


async def test_what_is_bad_in_a_record_costs_itself(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    memories = [
        {"memory": "Likes opera", "user_id": "vera", "created_at": "2024-08-02T08:00:00Z"},
        {"memory": "Sings alto", "user_id": "vera", "created_at": "yesterday"},
        {"memory": "Lives by the sea", "user_id": "vera"},
    ]
    entities = [
        {"entityType": "Person", "name": "Zoë", "observations": "Paints gates"},
        {"entityType": "Person", "name": "Ines", "observations": ["Bakes", 7]},
        {
            "entityType": "Person",
            "name": "Omar",
            "observations": [f"Note {n}" for n in range(1001)],
        },
        {"uuid": "u-1", "name": "Mill", "labels": [], "attributes": {"version": 3, "built": 1890}},
        {"relationType": "knows", "from": "Zoe\u0308", "to": "Ines"},
    ]
    files = {"memories.json": memories, "entities.json": entities}
    for name, items in files.items():
        (tmp_path / name).write_text(json.dumps(items), "utf-8")
    report = await graph.load(*(tmp_path / name for name in files), user_id=user_id, label="Entity")
    nodes, relationships = await stored(graph, user_id)
    assert note_contents(nodes["vera"]) == ["Likes opera", "Lives by the sea"]
    assert note_contents(nodes["Zoë"]) == ["Paints gates"]
    assert note_contents(nodes["Ines"]) == ["Bakes"]
    assert len(note_contents(nodes["Omar"])) == 1000
    assert nodes["Mill"]["built"] == 1890
    assert relationships.keys() == {"knows"}
    expected = [
        "memories.json line 1[1]: date_added is invalid",
        "entities.json line 1[1]: an observation is not text: 7",
        "entities.json line 1[2]: only the first 1,000 of 1,001 notes are loaded",
        "entities.json line 1[3]: the attribute 'version' is not loaded: ",
    ]
    found = problems(report)
    assert [text[: len(start)] for text, start in zip(found, expected, strict=True)] == expected


async def test_a_statement_in_the_other_direction_becomes_a_note_and_its_line_is_reported(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    people, ties = tmp_path / "people.csv", tmp_path / "ties.csv"
    people.write_text(":ID,name,:LABEL\na,Ada,Person\nb,Bo,Person\n", "utf-8")
    ties.write_text(":START_ID,:END_ID,:TYPE\na,b,MANAGES\nb,a,REPORTS_TO\n", "utf-8")
    report = await graph.load(people, ties, user_id=user_id)
    [relationship] = await relationships_of(graph, user_id)
    assert relationship["relationship_type"] == "manages"
    assert note_contents(relationship) == ["Bo reports to Ada"]
    assert [str(remark) for remark in report.remarks] == [
        "ties.csv line 3: 'Bo reports to Ada' is kept as a note, because the relationship has the "
        "opposite direction: 'Ada manages Bo'"
    ]
    again = await graph.load(people, ties, user_id=user_id)
    assert (report.problems, again.changed, again.remarks) == ((), False, report.remarks)
