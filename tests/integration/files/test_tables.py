"""Ordinary tables: CSV of any dialect, and a JSON array of objects."""

import json
from pathlib import Path

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from tests.support.stored import nodes_of, relationships_of

CONTACTS = """\ufeffTitle;Firm;Met;Phone;Remarks
Ann Lee;Acme;12.03.2019;+49 1;"Likes; tea"
Bo Ek;Acme;;+49 2;
Cy Ruiz;Tide; 2020-05-01 00:00 ;;Sings
Di Ott;Tide;yesterday;;
Ann Lee;;;;
;;;;
"""
COLUMNS = "Title=name,Met=when,Firm=works for -> Entity,Remarks=notes"


@pytest.fixture
def contacts(tmp_path: Path) -> Path:
    """A table as spreadsheets save it."""
    file = tmp_path / "contacts.csv"
    file.write_text(CONTACTS.replace("\n", "\r\n"), "utf-8")
    return file


async def test_a_table_is_loaded_as_its_columns_say_and_a_bad_cell_costs_itself(
    graph: KnowledgeGraph, user_id: str, contacts: Path
) -> None:
    report = await graph.load(contacts, user_id=user_id, label="Person", columns=COLUMNS)
    assert (report.nodes.created, report.relationships.created) == (6, 4)
    assert [str(problem) for problem in report.problems] == [
        "line 5: Met: 'yesterday' is no day, such as 2019-03-12",
        "line 6: id 'Ann Lee' is already used on line 2",
    ]
    nodes = {node["name"]: node for node in await nodes_of(graph, user_id)}
    assert nodes.keys() == {"Ann Lee", "Bo Ek", "Cy Ruiz", "Di Ott", "Acme", "Tide"}
    ann, cy = nodes["Ann Lee"], nodes["Cy Ruiz"]
    notes = [(note["content"], note.get("when")) for note in json.loads(ann["notes"])]
    assert notes == [("Likes; tea", None), ("Met", "2019-03-12")]
    assert json.loads(cy["notes"])[1]["when"] == "2020-05-01"
    assert (ann["Phone"], "Phone" in cy) == ("+49 1", False)
    types = {one["relationship_type"] for one in await relationships_of(graph, user_id)}
    assert types == {"works for"}
    again = await graph.load(contacts, user_id=user_id, label="Person", columns=COLUMNS)
    assert not again.changed


async def test_without_columns_they_are_proposed(
    graph: KnowledgeGraph, user_id: str, contacts: Path
) -> None:
    proposed = '--label Person --map "Met=when,Title=name,Firm -> Entity"'
    with pytest.raises(InputError) as refused:
        await graph.load(contacts, user_id=user_id)
    assert proposed in str(refused.value)
    assert await nodes_of(graph, user_id) == []


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("Titel=name", "No column 'Titel'; there are Title, Firm"),
        ("Title=nmae", "'nmae' is no field"),
        ("Firm -> Company", "Unknown label: Company"),
        ("Firm -> Entity", "No column is the name"),
    ],
)
async def test_columns_that_do_not_fit_are_refused(
    graph: KnowledgeGraph, user_id: str, contacts: Path, columns: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        await graph.load(contacts, user_id=user_id, label="Person", columns=columns)


async def test_an_array_of_objects_is_a_table_and_rows_may_name_each_other(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "team.json"
    team = [
        {"Name": "Ann", "age": 7, "tags": ["a", "b"], "boss": "Bo"},
        {"Name": "Bo", "boss": None},
    ]
    file.write_text(json.dumps(team, indent=1), "utf-8")
    report = await graph.load(
        file, user_id=user_id, label="Person", columns="Name=name,boss -> Person"
    )
    assert (report.nodes.created, report.problems) == (2, ())
    [ann] = [node for node in await nodes_of(graph, user_id) if node["name"] == "Ann"]
    assert (ann["age"], ann["tags"]) == (7, "a; b")
    [boss] = await relationships_of(graph, user_id)
    assert boss["relationship_type"] == "boss"
